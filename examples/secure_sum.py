"""Five hospitals count patients together: each is a process of its own, packets travel over TLS,
and nobody sees an exact count of anybody else, nor the exact total.
"""

import asyncio
import datetime
import ipaddress
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

import sfumato as sf
from sfumato.curators import SecureSum

COUNTS = [[120, 31], [80, 12], [45, 9], [230, 55], [64, 20]]  # secret, one row at each hospital
SUM = SecureSum(epsilon=1, curators=5, honest=3, size=2, sensitivity=1, unit="patient")


def make_certificate(folder: Path, name: str) -> None:
    """Make a key and a certificate of one hospital. Real ones come from an authority."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / f"{name}.crt").write_bytes(certificate.public_bytes(pem))
    private = serialization.PrivateFormat.PKCS8
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(pem, private, serialization.NoEncryption())
    )


def tls(folder: Path, me: int, *, serving: bool) -> ssl.SSLContext:
    """Trust the certificates of the five, and nobody else; both ends show theirs."""
    purpose = ssl.PROTOCOL_TLS_SERVER if serving else ssl.PROTOCOL_TLS_CLIENT
    context = ssl.SSLContext(purpose)
    context.load_cert_chain(folder / f"hospital{me}.crt", folder / f"hospital{me}.key")
    context.load_verify_locations(folder / "all.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    return context


async def take_part(folder: Path, me: int) -> list[int]:
    """One hospital: charge, add noise, split, send, add, publish, total."""
    received: dict[str, dict[int, bytes]] = {"packet": {}, "sum": {}}
    arrived = asyncio.Event()

    async def receive(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        shown = writer.get_extra_info("peercert")["subject"][0][0][1]  # who sends, by certificate
        kind, message = (await reader.read()).split(b" ", 1)
        received[kind.decode()].setdefault(int(shown.removeprefix("hospital")), message)
        arrived.set()
        writer.close()

    async def send(to: int, kind: str, message: bytes) -> None:
        port = int(await wait_for(folder / f"port{to}"))
        _, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=tls(folder, me, serving=False)
        )
        writer.write(kind.encode() + b" " + message)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def all_of(kind: str) -> list[bytes]:
        while len(received[kind]) < SUM.curators:
            await arrived.wait()
            arrived.clear()
        return [message for _, message in sorted(received[kind].items())]

    server = await asyncio.start_server(receive, "127.0.0.1", 0, ssl=tls(folder, me, serving=True))
    (folder / f"port{me}.new").write_text(str(server.sockets[0].getsockname()[1]))
    (folder / f"port{me}.new").rename(folder / f"port{me}")

    ledger = sf.Ledger.open(
        folder / f"hospital{me}.ledger",
        budget=sf.Pure(1),
        dataset="patients",
        unit="patient",
        relation="add-remove",
    )
    packets = SUM.contribute(COUNTS[me], ledger, memo="patients and intensive care, March")
    for to, packet in enumerate(packets):
        await send(to, "packet", packet)
    mine = SUM.add(await all_of("packet"))
    for to in range(SUM.curators):
        await send(to, "sum", mine)
    totals = SUM.total(await all_of("sum"))
    await asyncio.sleep(0.2)  # others may still be reading
    return totals


async def wait_for(path: Path) -> str:
    """Wait until another process has written a file."""
    while not path.exists():
        await asyncio.sleep(0.02)
    return path.read_text()


def main() -> None:
    """Start the five processes, and compare what they print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i in range(SUM.curators):
            make_certificate(folder, f"hospital{i}")
        every = (folder / f"hospital{i}.crt" for i in range(SUM.curators))
        (folder / "all.crt").write_text("".join(path.read_text() for path in every))
        processes = [
            subprocess.Popen(
                [sys.executable, __file__, "hospital", str(folder), str(i)],
                stdout=subprocess.PIPE,
                text=True,
            )
            for i in range(SUM.curators)
        ]
        printed = {process.communicate(timeout=120)[0].strip() for process in processes}
    (totals,) = printed  # all five see the same totals
    print(f"the five hospitals together, with noise: {totals}")
    print(f"in truth: {[sum(column) for column in zip(*COUNTS, strict=True)]}")
    print(f"standard deviation of the noise: {SUM.variance() ** 0.5:.2f}; {SUM.promise}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["hospital"]:
        print(asyncio.run(take_part(Path(sys.argv[2]), int(sys.argv[3]))))
    else:
        main()
