import { expect, test } from "vitest";
import type { LedgerEvent } from "../../pipeline/documents/ledger.ts";
import { ledgerLine, readLedger } from "../../pipeline/ledger/ledger.ts";
import { forbiddenChanges } from "../../pipeline/plan/forbidden.ts";

const count = 3000;
const ids = Array.from({ length: count }, (_, index) => index + 1);
const [was, is] = ["a".repeat(64), "b".repeat(64)];
const add = (id: number) =>
  ({
    ...{ event: "add", id, version: "26.09.001", package_type: "msi", name: `${id}.msi`, file: `${id}.msi` },
    ...{ min_os_version: null, max_os_version: null, checksum: was, content: was },
    at: "2026-09-01T10:00:00.000000Z",
  }) as LedgerEvent;
const text = ids.map((id) => ledgerLine(add(id))).join("");

test("other bytes of thousands of records are found in a time that does not grow with their square", () => {
  const { ledger } = readLedger({ file: "ledger.jsonl", text });
  const packages = ids.map((id) => ({ id, artifact: { content: { checksum: was, package_type: "msi" } } }));
  const catalog = { ledger, problems: [], identified: { releases: [{ packages }] } };
  const fields = [{ field: "checksum", from: is, to: was }];
  const changed = ids.map((id) => ({ id, version: "26.09.001", file: `${id}.msi`, fields }));
  const baseline = { ledger: text, name: "main", provisional: new Set() };
  const before = process.cpuUsage();
  const found = forbiddenChanges(catalog as never, baseline as never, { changed, removed: [] } as never);
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  expect(found.map(({ code }) => code)).toEqual(ids.map(() => "bytes-changed"));
});
