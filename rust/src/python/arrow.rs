//! Arrow memory through the C data interface (the PyCapsule protocol): pyarrow, Polars and others, without a copy.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::null_mut;

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use super::arrays::{EXPECTED, Kind, Memory};
use super::errors::invalid_scores;

/// `struct ArrowSchema` of the Arrow C data interface.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// `struct ArrowArray`.
#[repr(C)]
pub struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

/// `struct ArrowArrayStream`.
#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

impl Drop for Schema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the producer's own function, on a structure it filled and nobody released.
            unsafe { release(self) };
        }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: as above.
            unsafe { release(self) };
        }
    }
}

/// What keeps the memory alive while it is read.
pub enum Owner {
    Capsule { _array: Py<PyAny> },
    Chunk { _array: Box<Array> },
    Joined { _bytes: Vec<u64> },
}

/// Find the memory of an object with `__arrow_c_array__` or `__arrow_c_stream__`.
pub fn read(scores: &Bound<'_, PyAny>) -> PyResult<Memory> {
    let py = scores.py();
    if let Some(pair) = export(scores, "__arrow_c_array__")? {
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract().map_err(|_| failed_export(py))?;
        // SAFETY: the names are the protocol's, so the capsules hold these structures, alive with the capsules.
        let (kind, slice) = unsafe {
            let schema: &Schema = &*pointer(&schema, c"arrow_schema")?.cast();
            let kind = kind_of(py, schema)?;
            (kind, slice_of(py, &*pointer(&array, c"arrow_array")?.cast(), kind)?)
        };
        return Ok(slice.into_memory(kind, Owner::Capsule { _array: array.unbind() }));
    }
    if let Some(capsule) = export(scores, "__arrow_c_stream__")? {
        // SAFETY: as above.
        return unsafe { read_stream(py, pointer(&capsule, c"arrow_array_stream")?.cast()) };
    }
    let got = format!("<{}>", scores.get_type().name()?);
    Err(invalid_scores(py, &got, EXPECTED, ""))
}

/// What the object's export method returns, if it has one. Why an export fails is not passed on: it may quote values.
fn export<'py>(scores: &Bound<'py, PyAny>, method: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    match scores.getattr(method) {
        Ok(method) => method.call0().map(Some).map_err(|_| failed_export(scores.py())),
        Err(error) if error.is_instance_of::<PyAttributeError>(scores.py()) => Ok(None),
        Err(_) => Err(failed_export(scores.py())),
    }
}

fn failed_export(py: Python<'_>) -> PyErr {
    invalid_scores(py, "<object whose Arrow export fails>", EXPECTED, "")
}

fn pointer(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<*mut c_void> {
    let failed = || failed_export(capsule.py());
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| failed())?;
    Ok(capsule.pointer_checked(Some(name)).map_err(|_| failed())?.as_ptr())
}

/// # Safety
/// `schema.format` must be a C string.
unsafe fn kind_of(py: Python<'_>, schema: &Schema) -> PyResult<Kind> {
    // SAFETY: the caller's.
    let format = unsafe { CStr::from_ptr(schema.format) }.to_bytes();
    let holds = match format {
        _ if !schema.dictionary.is_null() => "dictionary-encoded values",
        b"g" => return Ok(Kind::F64),
        b"f" => return Ok(Kind::F32),
        b"l" => return Ok(Kind::I64),
        b"L" => return Ok(Kind::U64),
        b"i" => return Ok(Kind::I32),
        b"I" => return Ok(Kind::U32),
        b"s" => return Ok(Kind::I16),
        b"S" => return Ok(Kind::U16),
        b"c" => return Ok(Kind::I8),
        b"C" => return Ok(Kind::U8),
        b"e" => "half floats",
        b"b" => "booleans",
        b"n" => "nulls",
        b"u" | b"U" | b"vu" => "text",
        [b't', ..] => "times",
        [b'd', ..] => "decimals",
        [b'+', ..] => "nested values",
        _ => "another type",
    };
    Err(invalid_scores(py, &format!("<Arrow array of {holds}>"), EXPECTED, "Cast it first."))
}

struct Slice {
    first: *const u8,
    len: usize,
}

impl Slice {
    fn into_memory(self, kind: Kind, owner: Owner) -> Memory {
        Memory { kind, first: self.first, len: self.len, stride: kind.size() as isize, _owner: Some(owner) }
    }
}

/// # Safety
/// `array` must be a live array whose schema has this `kind`.
unsafe fn slice_of(py: Python<'_>, array: &Array, kind: Kind) -> PyResult<Slice> {
    let (len, offset) = (array.length as usize, array.offset as usize);
    // SAFETY: a primitive array has two buffers: validity (may be null) and values.
    let (validity, values) = unsafe { (*array.buffers, *array.buffers.add(1)) };
    let is_null = |index: usize| {
        let bit = offset + index;
        // SAFETY: the bitmap has a bit for each of offset + length values.
        unsafe { *validity.cast::<u8>().add(bit / 8) >> (bit % 8) & 1 == 0 }
    };
    if array.null_count != 0 && !validity.is_null() && (0..len).any(is_null) {
        return Err(invalid_scores(py, "<array with nulls>", "a score for every candidate", ""));
    }
    // SAFETY: the values from `offset` on are part of the buffer (which may be null if there are none).
    let first = if len == 0 { std::ptr::null() } else { unsafe { values.cast::<u8>().add(offset * kind.size()) } };
    Ok(Slice { first, len })
}

/// # Safety
/// `stream` must be a live stream.
unsafe fn read_stream(py: Python<'_>, stream: *mut Stream) -> PyResult<Memory> {
    let failed = || failed_export(py);
    let mut schema = Schema {
        format: std::ptr::null(),
        name: std::ptr::null(),
        metadata: std::ptr::null(),
        flags: 0,
        n_children: 0,
        children: null_mut(),
        dictionary: null_mut(),
        release: None,
        private_data: null_mut(),
    };
    // SAFETY: the producer's functions, on its own stream; a status other than 0 is an error.
    unsafe {
        let (Some(get_schema), Some(get_next)) = ((*stream).get_schema, (*stream).get_next) else {
            return Err(failed());
        };
        if get_schema(stream, &raw mut schema) != 0 {
            return Err(failed());
        }
        let kind = kind_of(py, &schema)?;
        let mut chunks: Vec<(Box<Array>, Slice)> = Vec::new();
        loop {
            let mut chunk = Box::new(Array {
                length: 0,
                null_count: 0,
                offset: 0,
                n_buffers: 0,
                n_children: 0,
                buffers: null_mut(),
                children: null_mut(),
                dictionary: null_mut(),
                release: None,
                private_data: null_mut(),
            });
            if get_next(stream, &raw mut *chunk) != 0 {
                return Err(failed());
            }
            if chunk.release.is_none() {
                break;
            }
            let slice = slice_of(py, &chunk, kind)?;
            if slice.len > 0 {
                chunks.push((chunk, slice));
            }
        }
        if chunks.len() <= 1 {
            return Ok(match chunks.pop() {
                Some((array, slice)) => slice.into_memory(kind, Owner::Chunk { _array: array }),
                None => {
                    Slice { first: std::ptr::null(), len: 0 }.into_memory(kind, Owner::Joined { _bytes: Vec::new() })
                }
            });
        }
        Ok(join(kind, &chunks))
    }
}

/// Several chunks are copied into one piece: the only copy the core ever makes of scores.
///
/// # Safety
/// The slices must be readable.
unsafe fn join(kind: Kind, chunks: &[(Box<Array>, Slice)]) -> Memory {
    let len = chunks.iter().map(|(_, slice)| slice.len).sum::<usize>();
    // Words of 64 bits, so that any element type is aligned.
    let mut words = vec![0_u64; (len * kind.size()).div_ceil(8)];
    let mut to: *mut u8 = words.as_mut_ptr().cast();
    for (_, slice) in chunks {
        let bytes = slice.len * kind.size();
        // SAFETY: the words hold all chunks, and new memory overlaps nothing.
        unsafe {
            std::ptr::copy_nonoverlapping(slice.first, to, bytes);
            to = to.add(bytes);
        }
    }
    Slice { first: words.as_ptr().cast(), len }.into_memory(kind, Owner::Joined { _bytes: words })
}
