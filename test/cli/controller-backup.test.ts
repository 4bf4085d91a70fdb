/** @module-tag long */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type MadeController,
  madeController,
  type ServedController,
  servedController,
} from "../support/controller.ts";
import { refusing, spawnRelcat } from "../support/run.ts";

const on = (database: string) => ["--database", database];
const codesOf = ({ audit_log }: { audit_log: { code: string }[] }) => audit_log.map(({ code }) => code);

describe("while devices enrol", () => {
  let served: ServedController;
  beforeAll(async () => {
    served = await servedController();
  });

  test("a backup is complete, and restores the same controller", async () => {
    const { folder, run, json, succeed, enroll } = served;
    const first = await enroll({ serial: "SN-1" });
    const [backup] = await Promise.all([
      run(["controller", "backup", "backup.db", ...on("controller.db"), "--with-pepper"]),
      ...Array.from({ length: 40 }, () => enroll({})),
    ]);
    expect([backup.stdout, backup.stderr, backup.exitCode]).toEqual([
      "Wrote backup.db.",
      [
        "The pepper is in backup.db.pepper: anyone who has both can do what the controller can.",
        "Next: relcat controller restore backup.db --database NEW.db, to restore it",
      ].join("\n"),
      0,
    ]);
    for (const file of ["backup.db", "backup.db.pepper"])
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    const restored = await run(["controller", "restore", "backup.db", ...on("new.db")]);
    expect([restored.stdout, restored.stderr, restored.exitCode]).toEqual([
      "Restored backup.db as new.db; its audit log is intact.",
      [
        "Changes after the backup are lost: keys that were revoked and devices that were rejected since then have their earlier state.",
        "Next: relcat controller serve --database new.db",
      ].join("\n"),
      0,
    ]);
    const { rows } = await json(["controller", "audit", "verify", ...on("new.db")]);
    const shown = await json(["controller", "audit", "show", ...on("new.db"), "--limit", "1000"]);
    expect([codesOf(shown)[0], shown.audit_log[0].after]).toEqual([
      "database.restored",
      { from: "backup.db", rows: rows - 1 },
    ]);
    expect(
      shown.audit_log.some(({ target }: { target: { id: string } | null }) => target?.id === first),
    ).toBe(true);
    await succeed(["controller", "audit", "verify", ...on("controller.db")]);
  });
});

describe("on an idle controller", () => {
  let made: MadeController;
  beforeAll(async () => {
    made = await madeController();
    await made.succeed(["controller", "backup", "backup.db", ...on("controller.db")]);
  });

  const usual = "  hint: --database takes the file that relcat controller init created, or postgres://…";

  test("a backup without the pepper warns, and restore asks for the pepper", async () => {
    const { run, folder, succeed } = made;
    const { stderr } = await succeed(["controller", "backup", "other.db", ...on("controller.db")]);
    expect(stderr).toContain(
      "The backup does not contain the pepper. Keep the pepper in another place: without it the backup is useless.",
    );
    const restore = ["controller", "restore", "backup.db", ...on("asked.db")];
    const refused = await run(restore);
    expect([refused.stderr, refused.exitCode]).toEqual([
      "error[controller-database] the pepper of backup.db is missing\n  hint: Put it into backup.db.pepper, or set RELCAT_PEPPER.",
      2,
    ]);
    const wrong = await run(restore, "", { RELCAT_PEPPER: "ab".repeat(32) });
    expect([wrong.stderr, wrong.exitCode]).toEqual([
      `error[controller-database] the pepper is not the one that this database was created with\n${usual}`,
      2,
    ]);
    const pepper = readFileSync(join(folder, "controller.db.pepper"), "utf8").trim();
    await succeed(restore, "", { RELCAT_PEPPER: pepper });
    await succeed(["controller", "audit", "verify", ...on("asked.db")]);
  });

  test("a backup needs no hard links, and still overwrites no other file", async () => {
    const { folder } = made;
    const backup = () =>
      spawnRelcat(folder, ["controller", "backup", "smb.db", ...on("controller.db")], refusing("linkSync"));
    expect((await backup()).exitCode).toBe(0);
    expect(readdirSync(folder).filter((name) => name.startsWith("smb.db"))).toEqual(["smb.db"]);
    expect(await backup()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("already exists") });
  });

  test.each([
    [["backup", "backup.db", ...on("controller.db")], "backup.db already exists"],
    [["restore", "backup.db", ...on("controller.db")], "controller.db already exists"],
  ])("%j overwrites no other file", async (args, what) => {
    const before = readFileSync(join(made.folder, "controller.db.pepper"), "utf8");
    const { stderr, exitCode } = await made.run(["controller", ...args], "", {
      RELCAT_PEPPER: before.trim(),
    });
    expect([stderr, exitCode]).toEqual([
      `error[file-exists] ${what}; nothing was written\n  hint: Give another name, or move it away.`,
      2,
    ]);
  });

  test.each([
    ["no.db", "there is no backup no.db"],
    ["text.db", "text.db cannot be used: it is a file of another program"],
    ["empty.db", "empty.db is not the database of a controller"],
  ])("restore refuses %s", async (file, what) => {
    const { folder, run } = made;
    writeFileSync(join(folder, "text.db"), "text\n".repeat(500));
    writeFileSync(join(folder, "empty.db"), "");
    const { stderr, exitCode } = await run(["controller", "restore", file, ...on("not-made.db")], "", {
      RELCAT_PEPPER: "ab".repeat(32),
    });
    expect([stderr.split("\n")[0], exitCode]).toEqual([`error[controller-database] ${what}`, 2]);
    expect(readdirSync(folder).filter((name) => name.startsWith("not-made"))).toEqual([]);
  });

  test.each([
    [
      "row",
      "drop trigger audit_log_no_update; update audit_log set actor_name = 'somebody else' where seq = 1",
      "row 1 is not what was written, or an earlier row was replaced",
    ],
    [
      "row with the largest number of a database",
      "insert into audit_log (seq, at, actor_kind, code, hash) values (9223372036854775807, '', '', '', '')",
      "the row after row 1 was not written by the controller, which numbers rows without gaps",
    ],
  ])(
    "verify and restore refuse a backup that was changed outside the controller: a %s",
    async (_, statement, why) => {
      const { folder, run, succeed } = made;
      for (const file of ["changed.db", "changed.db.pepper"]) rmSync(join(folder, file), { force: true });
      await succeed(["controller", "backup", "changed.db", ...on("controller.db"), "--with-pepper"]);
      const database = new DatabaseSync(join(folder, "changed.db"));
      database.exec(statement);
      database.close();
      const verified = await run(["controller", "audit", "verify", ...on("changed.db")]);
      expect([verified.stderr, verified.stdout, verified.exitCode]).toEqual([
        `error[audit-broken] changed.db was changed outside the controller: ${why}\n  hint: Keep this database for the investigation, and restore a backup under another name.`,
        "",
        6,
      ]);
      const restored = await run(["controller", "restore", "changed.db", ...on("never.db")]);
      expect([restored.stderr, restored.exitCode]).toEqual([
        `error[audit-broken] changed.db was changed outside the controller: ${why}\n  hint: Restore another backup; nothing was written.`,
        6,
      ]);
      expect(existsSync(join(folder, "never.db"))).toBe(false);
    },
  );

  test("verify refuses a database that lacks a table", async () => {
    const { folder, run, succeed } = made;
    for (const table of ["audit_log", "keys"]) {
      await succeed(["controller", "backup", `${table}.db`, ...on("controller.db"), "--with-pepper"]);
      const database = new DatabaseSync(join(folder, `${table}.db`));
      database.exec(`drop table ${table}`);
      database.close();
      const { stderr, exitCode } = await run(["controller", "audit", "verify", ...on(`${table}.db`)]);
      expect([stderr, exitCode]).toEqual([
        `error[controller-database] ${table}.db cannot be used: no such table: ${table}\n  hint: --database takes the file that relcat controller init created, or postgres://…`,
        2,
      ]);
    }
  });

  test("verify with an earlier head proves that no row was cut off", async () => {
    const { run, succeed } = made;
    const verify = ["controller", "audit", "verify", ...on("controller.db")];
    const { stdout, stderr } = await succeed(verify);
    const [said, head = ""] = stdout.split("\n");
    expect([said, head]).toEqual([
      "The audit log is intact: 1 row.",
      expect.stringMatching(/^1:[0-9a-f]{64}$/),
    ]);
    expect(stderr).toContain("--head LINE later proves that no row before it was removed");
    await succeed([...verify, "--head", head]);
    const longer = await run([...verify, "--head", `9${head}`]);
    expect([longer.stderr.split("\n")[0], longer.exitCode]).toEqual([
      "error[audit-broken] controller.db was changed outside the controller: the log ends at 1, but once had 91 rows",
      6,
    ]);
    expect((await run([...verify, "--head", "1"])).stderr).toBe(
      'error[usage] "1" is not valid for --head <line>\n  hint: Give a line that relcat controller audit verify printed, SEQ:HASH.',
    );
    expect((await run(["controller", "audit", "verify"])).stderr).toBe(
      "error[usage] the option --database <place> is missing\n  hint: The log is verified on the controller's machine, because that needs the pepper.",
    );
  });

  test.each([
    [
      ["backup", "b.dump", ...on("postgres://me:secret@db/fleet")],
      "Run pg_dump --format=custom --file=b.dump 'postgres://me:***@db/fleet'; RELCAT_PEPPER is kept apart.",
    ],
    [
      ["restore", "b.dump", ...on("postgres://me@db/fleet")],
      "Run pg_restore --dbname=postgres://me@db/fleet b.dump; RELCAT_PEPPER is kept apart.",
    ],
  ])("%j names PostgreSQL's own tool", async (args, hint) => {
    const { stderr, exitCode } = await made.run(["controller", ...args]);
    expect([stderr, exitCode]).toEqual([
      `error[usage] PostgreSQL has its own tools for this\n  hint: ${hint}`,
      2,
    ]);
  });
});

test("backup refuses the pepper of another database", async () => {
  const { folder, run } = await madeController();
  writeFileSync(join(folder, "other.db.pepper"), "ab".repeat(32));
  const { stderr, exitCode } = await run([
    "controller",
    "backup",
    "other.db",
    ...on("controller.db"),
    "--with-pepper",
  ]);
  expect([stderr, exitCode]).toEqual([
    "error[file-exists] other.db.pepper contains a different pepper; nothing was written\n  hint: Give another name, or move it away.",
    2,
  ]);
});

test("a database of an earlier version is backed up before it is migrated", async () => {
  const { folder, run, succeed } = await madeController();
  const database = new DatabaseSync(join(folder, "controller.db"));
  database.exec(`drop index devices_by_name; drop index devices_by_state_and_name;
    alter table devices drop column name_key; delete from kysely_migration where name like '0004%'`);
  database.close();
  const backUp = ["controller", "backup", "earlier.db", ...on("controller.db"), "--with-pepper"];
  expect((await run(["controller", "serve", ...on("controller.db")])).stderr).toContain(
    "the database lacks 0004-devices-by-name",
  );
  expect((await succeed(backUp)).stdout).toBe("Wrote earlier.db.");
  await succeed(["controller", "restore", "earlier.db", ...on("restored.db")]);
  await succeed(["controller", "audit", "verify", ...on("restored.db")]);
});
