"""Files by path or URI on disks, in object stores and on web servers: text, tables, records, and their digests."""
