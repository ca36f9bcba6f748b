//! Whatever bytes come as the state of a partial selection: they are refused, or they are the state that writes them.
#![no_main]

use _core::select::partial_bytes::{from_bytes, to_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some((terms, winner)) = from_bytes(data) {
        assert_eq!(to_bytes(&terms, winner.as_ref()), data);
    }
});
