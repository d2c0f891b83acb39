"""Where the blobs are: a folder, or an object store behind fsspec with a local cache.

`open_blobs` chooses by the settings; everything else of the engine knows `db.blobs.BlobStore` alone.
"""

from db.blobs import BlobFolder, BlobStore
from engine.settings import MEGABYTE, Settings

CACHE = "blob-cache"  # folder in the data folder


def open_blobs(settings: Settings) -> BlobStore:
    """Return the store that the settings name.

    Raises:
        Refused: The address is unknown, or the package for it is not installed.
    """
    return store_at(settings, settings.blobs)


def store_at(settings: Settings, address: str) -> BlobStore:
    """Return the store at an address; the folder `blobs` in the data folder for an empty one. Raises as above."""
    if not address:
        folder = BlobFolder(settings.data_dir / "blobs")
        folder.clean_up()
        return folder
    from engine.storage.blob_cache import BlobCache
    from engine.storage.object_store import ObjectStore
    from engine.storage.remote_blobs import RemoteBlobs

    cache = BlobCache(settings.data_dir / CACHE, round(settings.blobs_cache_mb * MEGABYTE))
    cache.clean_up()
    return RemoteBlobs(ObjectStore(address, settings.blobs_options), cache)
