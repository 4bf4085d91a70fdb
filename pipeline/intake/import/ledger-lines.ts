import type { AddEvent, LedgerEvent, ReserveEvent, ReviseEvent } from "../../documents/ledger.ts";
import type { Entry } from "../../ledger/ledger-records.ts";
import { type Artifact, isPrivate } from "../../records/normalize.ts";
import { ledgerDates } from "./dates.ts";
import type { LiveRecord } from "./read-records.ts";

/** Lines of a new record: its creation, and its last change if that was later. */
export function linesOfNew(record: LiveRecord, { content, contentHash, file }: Artifact): LedgerEvent[] {
  const { created, modified } = ledgerDates(record);
  const add: AddEvent = {
    event: "add",
    id: record.id,
    version: content.version,
    package_type: content.package_type,
    name: content.name,
    file,
    min_os_version: content.min_os_version,
    max_os_version: content.max_os_version,
    checksum: content.checksum,
    content: contentHash,
    at: created,
    ...(isPrivate(content) && { private: true as const }),
    imported: true,
  };
  return modified === created ? [add] : [add, revision(record.id, { content, contentHash }, modified)];
}

export function lineOfRevised(record: LiveRecord, artifact: Artifact, { modified }: Entry): LedgerEvent {
  const { modified: now } = ledgerDates(record);
  return revision(record.id, artifact, now > modified ? now : modified);
}

function revision(
  id: number,
  { content, contentHash }: Pick<Artifact, "content" | "contentHash">,
  at: string,
): ReviseEvent {
  const hidden = isPrivate(content) && { private: true as const };
  return { event: "revise", id, content: contentHash, at, ...hidden, imported: true };
}

/** Reserves ids below `nextId` that the list does not show, unless they are already used. */
export function reservation(nextId: number | undefined, next: number, at: string): ReserveEvent[] {
  return nextId === undefined || nextId <= next ? [] : [{ event: "reserve", next_id: nextId, at }];
}
