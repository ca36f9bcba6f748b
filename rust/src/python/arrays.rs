//! Where the scores are: NumPy arrays, in place.

use numpy::{PyArray1, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use super::errors::invalid_scores;

/// The element types the core is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    F64,
    F32,
    I64,
    U64,
    I32,
    U32,
    I16,
    U16,
    I8,
    U8,
}

impl Kind {
    /// Bytes of one score.
    #[inline]
    pub fn size(self) -> usize {
        match self {
            Self::F64 | Self::I64 | Self::U64 => 8,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::I16 | Self::U16 => 2,
            Self::I8 | Self::U8 => 1,
        }
    }
}

/// Readable memory: `len` values of `kind`, `stride` bytes apart.
pub struct Memory {
    pub kind: Kind,
    pub first: *const u8,
    pub len: usize,
    pub stride: isize,
}

// SAFETY: only read, while the caller's reference keeps it alive.
unsafe impl Send for Memory {}
unsafe impl Sync for Memory {}

pub const EXPECTED: &str = "a one-dimensional array of float64, float32 or integers";

impl Memory {
    /// Bytes of scores.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.len * self.kind.size()
    }

    #[inline]
    pub fn of(scores: &Bound<'_, PyAny>) -> PyResult<Self> {
        let array = numpy_array(scores, EXPECTED)?;
        if array.ndim() != 1 {
            let got = format!("<array of shape {:?}>", array.shape());
            return Err(invalid_scores(scores.py(), &got, EXPECTED, "Pass one vector, with one score a candidate."));
        }
        let (kind, first) = elements(array, EXPECTED)?;
        Ok(Self { kind, first, len: array.len(), stride: array.strides()[0] })
    }
}

/// The same with two dimensions: shape, and bytes from a row and from a column to the next.
pub struct Memory2 {
    pub kind: Kind,
    pub first: *const u8,
    pub shape: (usize, usize),
    pub strides: (isize, isize),
}

// SAFETY: as above.
unsafe impl Send for Memory2 {}
unsafe impl Sync for Memory2 {}

impl Memory2 {
    pub fn of(scores: &Bound<'_, PyAny>) -> PyResult<Self> {
        const EXPECTED: &str = "a two-dimensional array of float64, float32 or integers";
        let array = numpy_array(scores, EXPECTED)?;
        let &[rows, columns] = array.shape() else {
            let got = format!("<array of shape {:?}>", array.shape());
            return Err(invalid_scores(scores.py(), &got, EXPECTED, "Pass one row for each selection."));
        };
        let (kind, first) = elements(array, EXPECTED)?;
        Ok(Self { kind, first, shape: (rows, columns), strides: (array.strides()[0], array.strides()[1]) })
    }
}

#[inline]
fn numpy_array<'a, 'py>(scores: &'a Bound<'py, PyAny>, expected: &str) -> PyResult<&'a Bound<'py, PyUntypedArray>> {
    match scores.cast::<PyUntypedArray>() {
        Ok(array) => Ok(array),
        Err(_) => Err(invalid_scores(scores.py(), &format!("<{}>", scores.get_type().name()?), expected, "")),
    }
}

/// Type and address of the first value.
#[inline]
fn elements(array: &Bound<'_, PyUntypedArray>, expected: &str) -> PyResult<(Kind, *const u8)> {
    let dtype = array.dtype();
    let kind = match (dtype.kind(), dtype.itemsize(), dtype.is_native_byteorder()) {
        (b'f', 8, Some(true)) => Kind::F64,
        (b'f', 4, Some(true)) => Kind::F32,
        (b'i', 8, Some(true)) => Kind::I64,
        (b'u', 8, Some(true)) => Kind::U64,
        (b'i', 4, Some(true)) => Kind::I32,
        (b'u', 4, Some(true)) => Kind::U32,
        (b'i', 2, Some(true)) => Kind::I16,
        (b'u', 2, Some(true)) => Kind::U16,
        (b'i', 1, _) => Kind::I8,
        (b'u', 1, _) => Kind::U8,
        _ => {
            let got = format!("<array of {}>", dtype.str().map_or_else(|_| "?".into(), |name| name.to_string()));
            return Err(invalid_scores(array.py(), &got, expected, ""));
        }
    };
    // SAFETY: only the address is taken, and every array has one, whatever its type and dimension.
    Ok((kind, unsafe { array.cast_unchecked::<PyArray1<u8>>() }.data().cast_const()))
}

/// Run `$body` with `$view` a typed view of `$memory`.
macro_rules! with_view {
    ($memory:expr, $view:ident => $body:expr) => {
        $crate::python::arrays::with_element!($memory.kind, Element => {
            // SAFETY: `Memory` describes readable memory that outlives the call.
            let $view = unsafe {
                $crate::scan::score_view::View::<Element>::new($memory.first.cast(), $memory.len, $memory.stride)
            };
            $body
        })
    };
}
pub(super) use with_view;

/// Run `$body` with `$element` the type of `$kind`.
macro_rules! with_element {
    ($kind:expr, $element:ident => $body:expr) => {{
        macro_rules! run {
            ($type:ty) => {{
                type $element = $type;
                $body
            }};
        }
        match $kind {
            $crate::python::arrays::Kind::F64 => run!(f64),
            $crate::python::arrays::Kind::F32 => run!(f32),
            $crate::python::arrays::Kind::I64 => run!(i64),
            $crate::python::arrays::Kind::U64 => run!(u64),
            $crate::python::arrays::Kind::I32 => run!(i32),
            $crate::python::arrays::Kind::U32 => run!(u32),
            $crate::python::arrays::Kind::I16 => run!(i16),
            $crate::python::arrays::Kind::U16 => run!(u16),
            $crate::python::arrays::Kind::I8 => run!(i8),
            $crate::python::arrays::Kind::U8 => run!(u8),
        }
    }};
}
pub(super) use with_element;
