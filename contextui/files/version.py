"""Which state of a file was read, to know later whether it is still the same."""

import os
from dataclasses import dataclass
from hashlib import blake2b


@dataclass(frozen=True, slots=True)
class Version:
    """A file at one moment. Plain numbers and text, so it can be kept in a window's state.

    Attributes:
        size: Its bytes.
        mtime_ns: When it was changed last, as the file system says.
        inode: Which file it was; a file that was replaced has another one.
        digest: A hash of the content, where all of it was read.
    """

    size: int
    mtime_ns: int
    inode: int
    digest: str | None = None

    @classmethod
    def of(cls, info: os.stat_result, data: bytes | None = None) -> "Version":
        """The version of an open file, with its content if that was read."""
        digest = None if data is None else blake2b(data, digest_size=16).hexdigest()
        size = info.st_size if data is None else len(data)
        return cls(size, info.st_mtime_ns, info.st_ino, digest)

    def same_content(self, other: "Version") -> bool:
        """Whether nothing was changed in between.

        The content decides where both are known by it: a file that was touched, or put back by
        a checkout, is the same. Otherwise size, time and inode must all agree.
        """
        if self.digest is not None and other.digest is not None:
            return self.digest == other.digest
        return (self.size, self.mtime_ns, self.inode) == (other.size, other.mtime_ns, other.inode)
