"""Makes this system refuse what Windows does not have, for processes with this folder first in PYTHONPATH.

The names are those that the library reference marks as "not Windows". `os.name` stays, because the library itself needs
it. Files behave as on Windows where the package uses them: folders cannot be opened, open files cannot be renamed or
removed, `rename` replaces nothing, and a descriptor that is not opened as binary would change the ends of lines."""

import builtins
import os
import signal
import sys

SIGNALS = """SIGHUP SIGALRM SIGKILL SIGQUIT SIGCHLD SIGPIPE SIGUSR1 SIGUSR2 SIGTSTP SIGCONT SIGWINCH
    alarm setitimer getitimer pthread_sigmask pthread_kill sigwait sigpending pause siginterrupt ITIMER_REAL"""
CALLS = """fchmod fchown chown lchown pread pwrite preadv pwritev fork forkpty getuid geteuid getgid getegid getgroups
    killpg getpgid getpgrp setsid getsid setpgid mkfifo mknod statvfs fstatvfs sysconf sched_getaffinity
    sched_yield nice wait wait3 wait4 posix_spawn posix_fadvise posix_fallocate sendfile copy_file_range fchdir chroot
    fdatasync sync lockf openpty ttyname memfd_create splice eventfd O_DIRECTORY O_NOFOLLOW O_NONBLOCK O_CLOEXEC
    O_TMPFILE O_SYNC O_NOCTTY O_PATH O_ASYNC register_at_fork WIFEXITED"""
MODULES = "fcntl resource pwd grp termios tty pty syslog readline curses"
BINARY = 1 << 30


def _is_ours():
    return sys._getframe(2).f_globals.get("__name__", "").startswith("convcli")


def _open(path, flags, mode=0o777, *, dir_fd=None):
    if _is_ours():
        if dir_fd is not None:
            raise NotImplementedError("dir_fd")
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", path)
        if flags & (os.O_WRONLY | os.O_RDWR) and path != os.devnull and not flags & BINARY:
            raise AssertionError("the ends of lines would change")
    return _opened(path, flags & ~BINARY, mode, dir_fd=dir_fd)


def _refuse_open(path):
    for name in os.listdir("/proc/self/fd"):
        try:
            is_same = os.path.samefile(os.path.join("/proc/self/fd", name), path)
        except OSError:
            continue
        if is_same:
            raise PermissionError(13, "another process is using the file", path)


def _moving(move, *, replaces):
    def moved(source, target, *, src_dir_fd=None, dst_dir_fd=None, follow_symlinks=True):
        if _is_ours():
            if not (src_dir_fd is dst_dir_fd is None):
                raise NotImplementedError("dir_fd")
            if not replaces and os.path.lexists(target):
                raise FileExistsError(17, "File exists", target)
            _refuse_open(source)
        return move(source, target)

    return moved


def _unlink(path, *, dir_fd=None):
    if _is_ours():
        _refuse_open(path)
    return _unlinked(path, dir_fd=dir_fd)


_opened, _unlinked = os.open, os.unlink
os.O_BINARY = BINARY
os.open, os.unlink = _open, _unlink
os.replace, os.rename, os.link = (
    _moving(os.replace, replaces=True), _moving(os.rename, replaces=False), _moving(os.link, replaces=False),
)  # fmt: skip
for module, names in ((signal, SIGNALS), (os, CALLS)):
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
for name in MODULES.split():
    sys.modules[name] = None
builtins.is_without_posix = True
