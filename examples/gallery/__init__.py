"""The gallery: the same attacks on several libraries, each cell a run of `dpselect.audit`."""
