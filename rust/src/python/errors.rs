//! Errors of the core as the exceptions of `dpselect.errors`. Nothing here can see a score.

use std::cell::RefCell;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::error::SelectError;
use crate::select::above_threshold::Ended;

struct Exceptions {
    selection: Py<PyType>,
    parameter: Py<PyType>,
    scores: Py<PyType>,
    memory: Py<PyType>,
    stream: Py<PyType>,
    shown: Py<PyType>,
}

fn exceptions(py: Python<'_>) -> PyResult<&'static Exceptions> {
    static EXCEPTIONS: PyOnceLock<Exceptions> = PyOnceLock::new();
    EXCEPTIONS.get_or_try_init(py, || {
        let module = py.import("dpselect.errors")?;
        let class = |name: &str| -> PyResult<Py<PyType>> { Ok(module.getattr(name)?.cast_into::<PyType>()?.unbind()) };
        Ok(Exceptions {
            selection: class("SelectionError")?,
            parameter: class("InvalidParameterError")?,
            scores: class("InvalidScoresError")?,
            memory: class("InsufficientMemoryError")?,
            stream: class("StreamEndedError")?,
            shown: class("Shown")?,
        })
    })
}

/// An `InvalidScoresError`. `got` says what arrived in public terms: type, element type, shape.
pub fn invalid_scores(py: Python<'_>, got: &str, expected: &str, hint: &str) -> PyErr {
    build(py, |known| &known.scores, "scores", got, expected, hint)
}

/// An `InvalidParameterError` about the argument `name`.
pub fn invalid_parameter(py: Python<'_>, name: &str, got: &str, expected: &str) -> PyErr {
    build(py, |known| &known.parameter, name, got, expected, "")
}

fn build(
    py: Python<'_>,
    class: impl Fn(&Exceptions) -> &Py<PyType>,
    name: &str,
    got: &str,
    expected: &str,
    hint: &str,
) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let known = exceptions(py)?;
        let shown = known.shown.bind(py).call1((got,))?;
        let error = class(known).bind(py).call1((name, shown, expected, hint))?;
        Ok(PyErr::from_value(error))
    };
    make().unwrap_or_else(|error| error)
}

/// A `StreamEndedError`.
pub fn stream_ended(py: Python<'_>, ended: Ended) -> PyErr {
    let text = match ended {
        Ended::Over => "this stream has said yes as often as was paid for, or was closed",
        Ended::AnotherProcess => "this stream was begun in another process, before a fork",
    };
    plain(py, |known| &known.stream, text)
}

pub fn to_python(py: Python<'_>, error: SelectError) -> PyErr {
    match error {
        SelectError::NoCandidates => invalid_scores(py, "<empty>", "at least one score", ""),
        SelectError::NotFinite => invalid_scores(
            py,
            "<NaN or infinity among them>",
            "finite numbers",
            "Decide by a public rule what such a candidate scores; dropping it because of the data would leak.",
        ),
        SelectError::InvalidCount => {
            invalid_parameter(py, "k", "<out of range>", "a whole number from 1 to the number of candidates")
        }
        SelectError::InvalidScale => {
            invalid_parameter(py, "epsilon, sensitivity", "<out of range>", "finite numbers > 0")
        }
        SelectError::Memory => {
            plain(py, |known| &known.memory, "Not enough memory for that many scores or answers; nothing was drawn.")
        }
        SelectError::Changed => invalid_scores(
            py,
            "<changed during the call>",
            "scores that stay as they are until the call ends",
            "Another thread wrote to the array; nothing was released.",
        ),
        SelectError::Interrupted => RAISED.take().unwrap_or_else(|| PyErr::new::<PyKeyboardInterrupt, _>(())),
        SelectError::Entropy => {
            plain(py, |known| &known.selection, "The operating system's source of randomness failed.")
        }
    }
}

thread_local! {
    /// What a signal's handler raised during the call.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether a signal's handler raised something: then the running call ends with that.
pub fn was_interrupted() -> bool {
    Python::attach(|py| match py.check_signals() {
        Ok(()) => false,
        Err(raised) => {
            RAISED.set(Some(raised));
            true
        }
    })
}

/// An exception that is about no argument.
fn plain(py: Python<'_>, class: impl Fn(&Exceptions) -> &Py<PyType>, text: &str) -> PyErr {
    let make = || -> PyResult<PyErr> { Ok(PyErr::from_value(class(exceptions(py)?).bind(py).call1((text,))?)) };
    make().unwrap_or_else(|error| error)
}
