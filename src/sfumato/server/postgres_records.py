"""The service's own records in a PostgreSQL database."""

from __future__ import annotations

from ..errors import Refused
from ..storage.postgres_store import PatientConnection, PostgresStore
from ..storage.storage_errors import Outcome
from . import server_refusals as refusals
from .store_schema import prepare_server


class PostgresRecords(PostgresStore):
    """The records in a database, shared by hosts."""

    def _prepare(self, connection: PatientConnection) -> None:
        prepare_server(connection)

    def _explain(self, error: Exception, outcome: Outcome) -> Refused:
        return refusals.RECORDS_FAILED()
