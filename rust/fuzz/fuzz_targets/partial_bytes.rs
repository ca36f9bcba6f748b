//! Whatever bytes come as the state of a partial selection: they are refused, or they are the state that writes them.
#![no_main]

use _core::select::partial::Row;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some(row) = Row::from_bytes(data) {
        assert_eq!(row.to_bytes(), data);
    }
});
