# matplotlib ships incomplete types, so the type checker treats all of it as Any.
from typing import Any

def __getattr__(name: str) -> Any: ...
