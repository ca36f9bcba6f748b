"""Finds names that Windows or macOS lacks and that a module uses without asking for them first.

A guard is what a reader expects: an import with ``except ImportError``, a branch on ``hasattr`` or ``sys.platform``, or
on whether an optional module was found. ``if`` with a guard that ends in ``return`` covers what follows it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

UNIX_MODULES = frozenset(
    ("crypt", "curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty")
)
"""Which Windows lacks."""

UNIX_NAMES = {
    "os": "fork forkpty register_at_fork sysconf getuid geteuid getgid getegid getgroups getpgid getsid setuid setgid"
    " setsid killpg wait wait3 wait4 waitid WNOHANG chown lchown fchown mkfifo mknod openpty pread pwrite statvfs"
    " fstatvfs uname nice getloadavg sched_yield sendfile O_NOFOLLOW O_DIRECTORY O_CLOEXEC O_NONBLOCK O_SYNC",
    "signal": "SIGKILL SIGHUP SIGPIPE SIGALRM SIGUSR1 SIGUSR2 SIGCHLD SIGCONT SIGQUIT SIGSTOP SIGTSTP alarm pause"
    " setitimer pthread_kill pthread_sigmask sigwait SIG_BLOCK SIG_SETMASK",
    "socket": "AF_UNIX SO_REUSEPORT sethostname",
    "select": "poll",
    "time": "clock_gettime pthread_getcpuclockid tzset CLOCK_MONOTONIC CLOCK_REALTIME CLOCK_PROCESS_CPUTIME_ID",
}
"""Which Windows lacks, by module."""

LINUX_NAMES = {
    "os": "sched_getaffinity sched_setaffinity posix_fallocate posix_fadvise fdatasync copy_file_range memfd_create"
    " pidfd_open eventfd splice O_DIRECT O_TMPFILE O_PATH getrandom setns unshare",
    "signal": "SIGPWR SIGPOLL SIGRTMIN SIGRTMAX sigtimedwait sigwaitinfo pidfd_send_signal",
    "socket": "AF_NETLINK AF_PACKET AF_ALG SO_PEERCRED",
    "select": "epoll",
    "time": "CLOCK_BOOTTIME",
}
"""Which macOS lacks, too: that a module of Unix was found does not guard these."""

SYSTEM_FOLDER = re.compile(r"/(?:proc|sys|dev)(?:/|$)")
_ANY = "*"
_WORDS = {*UNIX_MODULES, "get_context", "set_start_method"}.union(
    *(names.split() for known in (UNIX_NAMES, LINUX_NAMES) for names in known.values())
)


@dataclass(slots=True)
class _Search:
    """A walk through one module; `known` are the names that the branch being read has asked for."""

    found: list[tuple[int, str]] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)

    def block(self, statements: Iterable[ast.stmt], known: frozenset[str]) -> None:
        for each in statements:
            self.node(each, known)
            if isinstance(each, ast.If) and _leaves(each.body):
                known |= _asked(each.test, holds=False)

    def node(self, node: ast.AST, known: frozenset[str]) -> None:
        match node:
            case ast.If(test, body, otherwise):
                self.node(test, known)
                self.block(body, known | _asked(test, holds=True))
                self.block(otherwise, known | _asked(test, holds=False))
            case ast.IfExp(test, body, otherwise):
                self.node(test, known)
                self.node(body, known | _asked(test, holds=True))
                self.node(otherwise, known | _asked(test, holds=False))
            case ast.BoolOp(op, values):
                for value in values:
                    self.node(value, known)
                    known |= _asked(value, holds=isinstance(op, ast.And))
            case ast.Try(body, handlers, otherwise, final):
                self.block(body, known | _caught(handlers))
                for handler in handlers:
                    self.block(handler.body, known)
                self.block(otherwise, known | _caught(handlers))
                self.block(final, known)
            case _:
                self.leaf(node, known)
                for _, value in ast.iter_fields(node):
                    self.children(value, known)

    def children(self, value: object, known: frozenset[str]) -> None:
        if isinstance(value, list) and all(isinstance(each, ast.stmt) for each in value):
            self.block(value, known)
        else:
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.AST):
                    self.node(each, known)

    def leaf(self, node: ast.AST, known: frozenset[str]) -> None:
        match node:
            case ast.Import(names):
                for each in names:
                    self.aliases[each.asname or each.name] = each.name
                    self.need(node, each.name, "", known)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for each in names:
                    self.need(node, module, each.name, known)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                self.need(node, self.aliases.get(name, name), attribute, known)
            case ast.Call(ast.Attribute(attr="get_context" | "set_start_method"), [ast.Constant(str(way))]):
                if way != "spawn":
                    self.note(node, f'"{way}"', known, linux=False)
            case ast.Constant(value=str(text)) if SYSTEM_FOLDER.match(text):
                self.note(node, text, known, linux=True)
            case _:
                pass

    def need(self, node: ast.AST, module: str, name: str, known: frozenset[str]) -> None:
        full = f"{module}.{name}".rstrip(".")
        if name in LINUX_NAMES.get(module, "").split():
            self.note(node, full, known, linux=True)
        elif module in UNIX_MODULES or name in UNIX_NAMES.get(module, "").split():
            self.note(node, full, known, linux=False)

    def note(self, node: ast.AST, name: str, known: frozenset[str], *, linux: bool) -> None:
        sufficient = {_ANY, name} if linux else {_ANY, name, name.partition(".")[0], *UNIX_MODULES}
        if not sufficient & known:
            self.found.append((getattr(node, "lineno", 0), name))


def unguarded(text: str) -> list[tuple[int, str]]:
    """Line and name of all that a module's text uses of one system only, without a guard."""
    search = _Search()
    if _WORDS.isdisjoint(re.findall(r"\w+", text)) and not SYSTEM_FOLDER.search(text):
        return []
    tree = ast.parse(text)
    for node in ast.walk(tree):  # that a docstring names a folder opens nothing
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant(None)
    search.block(tree.body, frozenset())
    return search.found


def _leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def _asked(test: ast.expr, *, holds: bool) -> frozenset[str]:
    """What is there if a condition holds, or if it does not."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _asked(inner, holds=not holds)
        case ast.BoolOp(op, values) if isinstance(op, ast.And) == holds:
            return frozenset().union(*(_asked(each, holds=holds) for each in values))
        case ast.Call(ast.Name("hasattr"), [ast.Name(module), ast.Constant(str(name))]) if holds:
            return frozenset({f"{module}.{name}"})
        case ast.Compare(ast.Name(module), [ast.Is() | ast.IsNot() as op], [ast.Constant(None)]):
            return frozenset({module} if isinstance(op, ast.IsNot) == holds else ())
        case ast.Call(ast.Attribute(subject, "startswith"), [ast.Constant(str(system))]):
            return _of_system(ast.unparse(subject), system, same=holds)
        case ast.Compare(subject, [ast.Eq() | ast.NotEq() as op], [ast.Constant(str(system))]):
            return _of_system(ast.unparse(subject), system, same=isinstance(op, ast.Eq) == holds)
        case _:
            return frozenset()


def _of_system(subject: str, system: str, *, same: bool) -> frozenset[str]:
    if subject not in ("sys.platform", "os.name"):
        return frozenset()
    if system == "linux":
        return frozenset({_ANY} if same else ())
    unix = same if system in ("posix", "darwin") else not same if system in ("win32", "win", "nt") else False
    return UNIX_MODULES if unix else frozenset()


def _caught(handlers: list[ast.ExceptHandler]) -> frozenset[str]:
    caught = {name.id for each in handlers if each.type for name in _names(each.type)}
    return frozenset({_ANY} if caught & {"ImportError", "ModuleNotFoundError", "AttributeError"} else ())


def _names(tree: ast.expr) -> Iterator[ast.Name]:
    return (each for each in ast.walk(tree) if isinstance(each, ast.Name))
