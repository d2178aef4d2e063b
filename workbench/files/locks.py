"""A lock on an open file or folder, which excludes other processes and other handles of the same process.

The system frees the lock when the handle is closed or the process ends, however it ends.
"""

import os
import sys

if sys.platform == "win32":
    import errno
    import msvcrt

    LOCKED_BYTE = 1 << 30  # Windows locks bytes, not files: this one is beyond the end of every file

    def lock(opened: int) -> bool:
        """Lock the file of this descriptor without waiting; False while another handle has it.

        Raises:
            OSError: a file system without locks.
        """
        os.lseek(opened, LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(opened, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLK):
                return False
            raise
        finally:
            os.lseek(opened, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def lock(opened: int) -> bool:
        """Lock the file or folder of this descriptor without waiting; False while another handle has it.

        Raises:
            OSError: a file system without locks.
        """
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
