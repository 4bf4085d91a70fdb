import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, describe, expect, test } from "vitest";
import { verifyLog } from "../../controller/server/audit/verify-log.ts";
import { type Item, recordedDevices, setStates } from "../controller/state-support.ts";
import {
  caller,
  type DatabaseKind,
  newDatabase,
  pepper,
  type TestKey,
  testController,
} from "../controller/support.ts";
import { often, seed } from "../support/effort.ts";

const rounds = often(10, 2);
const singles = 900;
const bulks = 100;
const perBulk = 10;

async function serve(database: string): Promise<{ url: string; child: ChildProcess }> {
  const script = join(import.meta.dirname, "controller-server.ts");
  const child = spawn(process.execPath, [script, database, pepper], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  return { url: String(line).trim(), child };
}

async function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

/** Numbers that look random (mulberry32). */
function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The devices that each write changes: one for most, ten for every tenth. */
function groupsOf(ids: readonly string[]): string[][] {
  const alone = ids.slice(0, singles).map((id) => [id]);
  const together = Array.from({ length: bulks }, (_, index) =>
    ids.slice(singles + index * perBulk, singles + (index + 1) * perBulk),
  );
  return [...alone, ...together].sort((one, two) => (one[0] ?? "").localeCompare(two[0] ?? ""));
}

const random = randoms(seed);
const roundList = Array.from({ length: rounds }, (_, index) => ({
  round: index + 1,
  killAfter: 1 + Math.floor(random() * 600),
}));

interface Prepared {
  database: string;
  key: TestKey;
  groups: string[][];
}

/**
 * Sends all writes at once to a server that is killed after a number of answers. @returns the answered ones
 */
async function writeUntilKilled(
  { database, key, groups }: Prepared,
  change: Required<Pick<Item, "state" | "reason">>,
  killAfter: number,
): Promise<Set<string[]>> {
  const { url, child } = await serve(database);
  const call = caller(`${url}/-net/api/v0`);
  const answered = new Set<string[]>();
  const write = async (group: string[]) => {
    const items = group.map((id) => ({ id, ...change }));
    const answer = await setStates({ call }, key, items);
    if (answer.status === 200) answered.add(group);
    if (answered.size === killAfter) child.kill("SIGKILL");
  };
  await Promise.allSettled(groups.map(write));
  // With too few answers the server is still running; the count fails then.
  child.kill("SIGKILL");
  await gone(child);
  return answered;
}

describe.each<DatabaseKind>(["sqlite", "postgres"])("1,000 concurrent writes to %s, and kill -9", (kind) => {
  let prepared: Prepared;
  beforeAll(async () => {
    const database = await newDatabase(kind);
    const controller = await testController({ database });
    const key = await controller.makeKey(["devices:read", "devices:state"]);
    const ids = await recordedDevices(controller, singles + bulks * perBulk);
    prepared = { database, key, groups: groupsOf(ids) };
    await controller.close();
  });

  test.each(roundList)(
    "after $killAfter answers, round $round: answered writes remain, and none is half done",
    async ({ round, killAfter }) => {
      const state = round % 2 ? "accepted" : "rejected";
      const reason = `round ${round}`;
      const { database, key, groups } = prepared;
      const answered = await writeUntilKilled(prepared, { state, reason }, killAfter);
      expect(answered.size).toBeGreaterThanOrEqual(killAfter);

      const { call, controller, close } = await testController({ database });
      const list = (await call("GET", "/device", key)).json.devices as Record<
        string,
        { state: string; state_reason: string }
      >;
      const foundOf = (group: readonly string[]) =>
        new Set(group.map((id) => `${list[id]?.state}, ${list[id]?.state_reason}`));
      expect([...answered].filter(([id = ""]) => list[id]?.state !== state)).toEqual([]);
      expect(groups.filter((group) => foundOf(group).size > 1)).toEqual([]);

      const { read } = controller.database;
      const rows = await read
        .selectFrom("audit_log")
        .select("after")
        .where("code", "=", "device.state")
        .execute();
      const logged = rows.filter(({ after }) => JSON.parse(after ?? "{}").reason === reason);
      expect(logged).toHaveLength(
        Object.values(list).filter(({ state_reason }) => state_reason === reason).length,
      );
      expect(await verifyLog(controller.database, controller.pepper)).toMatchObject({ verdict: "whole" });
      await close();
      if (kind === "sqlite") expect(integrityOf(database)).toBe("ok");
    },
  );
});

function integrityOf(file: string): unknown {
  const database = new DatabaseSync(file);
  const verdict = database.prepare("pragma integrity_check").get()?.integrity_check;
  database.close();
  return verdict;
}

const changes = often(10_000, 2000);

test(`${changes} changes by two processes, and kill -9 of one: every answered change is there, once`, async () => {
  const prepared = await testController({ database: await newDatabase("postgres") });
  const owner = await prepared.makeKey(["devices:read", "devices:state"]);
  const devices = await recordedDevices(prepared, 500);
  const servers = await Promise.all([serve(prepared.database), serve(prepared.database)]);
  const calls = servers.map(({ url }) => caller(`${url}/-net/api/v0`));
  const answered = new Set<string>();
  let next = 0;
  const client = async (index: number) => {
    while (next < changes) {
      const number = next++;
      const state = Math.floor(number / devices.length) % 2 ? "rejected" : "accepted";
      const item = {
        id: devices[number % devices.length] ?? "",
        state,
        reason: `change ${number}`,
      } as const;
      const call = calls[index % 2];
      const answer = call && (await setStates({ call }, owner, [item]).catch(() => undefined));
      if (answer?.json?.changed === 1) answered.add(item.reason);
      if (answered.size === changes / 4) servers[0]?.child.kill("SIGKILL");
      if (!answer) return;
    }
  };
  await Promise.all(Array.from({ length: 64 }, (_, index) => client(index)));
  servers[1]?.child.kill("SIGKILL");
  await Promise.all(servers.map(({ child }) => gone(child)));
  const { read } = prepared.controller.database;
  const rows = await read
    .selectFrom("audit_log")
    .select("after")
    .where("code", "=", "device.state")
    .execute();
  const logged = rows.map(({ after }) => JSON.parse(after ?? "{}").reason as string);
  expect(answered.size).toBeGreaterThan(changes / 2);
  const found = new Set(logged);
  expect(found.size).toBe(logged.length);
  expect([...answered].filter((reason) => !found.has(reason))).toEqual([]);
  expect(await verifyLog(prepared.controller.database, prepared.controller.pepper)).toMatchObject({
    verdict: "whole",
  });
});
