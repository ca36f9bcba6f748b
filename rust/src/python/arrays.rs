//! Where the scores are: arrays of NumPy, in place; and what goes back, as new ones. By Python's buffer protocol.

use pyo3::buffer::{Element, PyBuffer, PyUntypedBuffer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::errors::{invalid_scores, to_python};
use crate::error::{SelectError, reserved};
use crate::scores::score::Kind;
use crate::scores::score_view::View;
use crate::select::rows::Matrix;

/// The type of the elements, which is told by a code for what they are and by their size.
fn kind_of(buffer: &PyUntypedBuffer) -> Option<Kind> {
    let size = buffer.item_size();
    let code = match buffer.format().to_bytes() {
        // Without a mark of the order of bytes, or with one that says this machine's; `^` is that of NumPy where numbers
        // are not aligned.
        [code] | [b'@' | b'=' | b'^', code] => *code,
        [b'<', code] if cfg!(target_endian = "little") || size == 1 => *code,
        [b'>' | b'!', code] if cfg!(target_endian = "big") || size == 1 => *code,
        _ => return None,
    };
    match (code, size) {
        (b'd', 8) => Some(Kind::F64),
        (b'f', 4) => Some(Kind::F32),
        (b'b' | b'h' | b'i' | b'l' | b'q' | b'n', 8) => Some(Kind::I64),
        (b'B' | b'H' | b'I' | b'L' | b'Q' | b'N', 8) => Some(Kind::U64),
        (b'b' | b'h' | b'i' | b'l' | b'q' | b'n', 4) => Some(Kind::I32),
        (b'B' | b'H' | b'I' | b'L' | b'Q' | b'N', 4) => Some(Kind::U32),
        (b'h', 2) => Some(Kind::I16),
        (b'H', 2) => Some(Kind::U16),
        (b'b', 1) => Some(Kind::I8),
        (b'B', 1) => Some(Kind::U8),
        _ => None,
    }
}

/// Memory that stays readable as long as this is held: numbers of `kind`, in `N` dimensions `strides` bytes apart.
pub struct Exported<const N: usize> {
    pub kind: Kind,
    pub first: *const u8,
    pub shape: [usize; N],
    pub strides: [isize; N],
    _held: PyUntypedBuffer,
}

pub type Memory = Exported<1>;
pub type Memory2 = Exported<2>;

impl Memory {
    /// The scores, where they are.
    #[inline]
    pub fn view(&self) -> View<'_> {
        // SAFETY: it describes memory that is readable as long as it is held.
        unsafe { View::new(self.first, self.kind, self.shape[0], self.strides[0]) }
    }
}

impl Memory2 {
    /// The scores of several selections, where they are.
    pub fn matrix(&self) -> Matrix<'_> {
        // SAFETY: it describes memory that is readable as long as it is held.
        unsafe { Matrix::new(self.first, self.kind, self.shape.into(), self.strides.into()) }
    }
}

impl<const N: usize> Exported<N> {
    /// Bytes of scores.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.kind.size()
    }

    #[inline]
    pub fn of(scores: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::read(scores).ok_or_else(|| {
            let got = scores.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
            let dimensions = if N == 1 { "one-dimensional" } else { "two-dimensional" };
            let expected = format!("a {dimensions} array of float64, float32 or integers");
            invalid_scores(scores.py(), &format!("<{got}>"), &expected, "")
        })
    }

    fn read(scores: &Bound<'_, PyAny>) -> Option<Self> {
        let held = PyUntypedBuffer::get(scores).ok()?;
        let kind = kind_of(&held)?;
        let (shape, strides) = (held.shape().try_into().ok()?, held.strides().try_into().ok()?);
        // Elements behind pointers, which only libraries for pictures have.
        let is_direct = held.suboffsets().is_none();
        is_direct.then(|| Self { kind, first: held.buf_ptr().cast_const().cast(), shape, strides, _held: held })
    }
}

/// Numbers that go back to Python as an array, or come from one.
pub trait Number: Element {
    const KIND: Kind;
    /// As NumPy calls them.
    const DTYPE: &str;
}

macro_rules! numbers {
    ($($type:ty, $kind:ident, $dtype:literal;)*) => {$(
        impl Number for $type {
            const KIND: Kind = Kind::$kind;
            const DTYPE: &str = $dtype;
        }
    )*};
}

numbers!(f64, F64, "f8"; i64, I64, "i8"; u64, U64, "u8"; u8, U8, "u1";);

/// A copy of a one-dimensional array of just that type.
pub struct Numbers<T>(pub Vec<T>);

impl<'a, 'py, T: Number> FromPyObject<'a, 'py> for Numbers<T> {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let Some(memory) = Memory::read(&given).filter(|memory| memory.kind == T::KIND) else {
            return Err(PyTypeError::new_err(format!("expected a one-dimensional array of dtype {}", T::DTYPE)));
        };
        let ([len], [stride]) = (memory.shape, memory.strides);
        let mut values = reserved(len).map_err(|error| to_python(given.py(), error))?;
        // SAFETY: `Memory` describes readable memory.
        let from = |index: usize| unsafe { memory.first.byte_offset(index as isize * stride).cast::<T>() };
        // SAFETY: within it; foreign memory need not be aligned.
        values.extend((0..len).map(|index| unsafe { from(index).read_unaligned() }));
        Ok(Self(values))
    }
}

/// An array of NumPy.
pub type Array<'py> = Bound<'py, PyAny>;

/// A new array of these values in `shape`, a number or a tuple of as many.
pub fn array<'py, T: Number>(py: Python<'py>, shape: impl IntoPyObject<'py>, values: &[T]) -> PyResult<Array<'py>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = EMPTY.import(py, "numpy", "empty")?.call1((shape, T::DTYPE));
    let made = made.map_err(|_| to_python(py, SelectError::Memory))?;
    PyBuffer::<T>::get(&made)?.copy_from_slice(py, values)?;
    Ok(made)
}
