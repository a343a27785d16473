"""A process of a user whom the system does not know: no HOME, and no entry for its number."""

import os
import pwd

for variable in ("HOME", "LOGNAME", "USER", "LNAME", "USERNAME"):
    os.environ.pop(variable, None)


def _unknown(number: int) -> pwd.struct_passwd:
    raise KeyError(f"getpwuid(): uid not found: {number}")


pwd.getpwuid = _unknown
