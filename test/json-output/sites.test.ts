/** @module-tag long */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { sha256 } from "../publish/uploading.ts";
import { addressOf, startRelcat } from "../support/controller.ts";
import { firstCut, type Project, project, release } from "../support/project.ts";
import { relcat } from "../support/run.ts";
import { groups } from "./groups.ts";
import { Printed } from "./printed.ts";

const printed = new Printed();
type Name = Parameters<Printed["as"]>[0];

const catalog = (product: string) =>
  `product: ${product}\nrequire: {}\nbase_url: https://downloads.example.com\ntrust: simple\nsites: {prod: {url: "dir:www"}}\n`;

let made: Project;
let env: Record<string, string>;

/** Runs a command with --json that is expected to print this output. */
const shows = async (name: Name, ...args: string[]) =>
  printed.as(name, (await relcat(made.folder, [...args, "--json"], { env })).stdout);

const succeed = async (...args: string[]) => {
  const { exitCode, stderr } = await relcat(made.folder, args, { env });
  expect(exitCode, `relcat ${args.join(" ")}\n${stderr}`).toBe(0);
};

const root = ["--root", "releases/trust/1.root.json"];

beforeAll(async () => {
  const installer = { name: "tool.msi", package_type: "msi", sha256: sha256("package"), size: 7 };
  made = project({
    "releases/catalog.yaml": catalog("Example").replace("trust: simple\n", ""),
    ...release("26.08.001", [installer]),
    "out/tool.msi": "package",
    "out/other/tool.msi": "changed",
  });
  env = { XDG_STATE_HOME: join(made.folder, "state") };
  await shows("trust-init", "trust", "init", "keys");
  env.RELCAT_ONLINE_KEY = readFileSync(join(made.folder, "keys/online.pem"), "utf8");
  made.write("releases/catalog.yaml", catalog("Example"));
  await succeed("cut", "--all", "--now", firstCut);
  await succeed("build", "--released", "--site", "prod");
});

describe("a signed site", () => {
  test("upload, sign, publish and history", async () => {
    const upload = ["upload", "--site", "prod", "--release", "26.08.001", "out/tool.msi"];
    expect((await shows("upload", ...upload, "--dry-run")).dry_run).toBe(true);
    expect((await shows("upload", ...upload)).files[0].result).toBe("uploaded");
    expect((await shows("upload", ...upload)).files[0].result).toBe("present");
    await shows("problems", "history", "prod");
    await shows("sign", "sign", "--site", "prod");
    expect((await shows("publish", "publish", "prod", "--dry-run")).result).toBe("planned");
    expect((await shows("publish", "publish", "prod")).result).toBe("published");
    expect((await shows("publish", "publish", "prod", "--repair")).result).toBe("unchanged");
    expect((await shows("release", "release", "prod", "--dry-run")).dry_run).toBe(true);
    expect((await shows("history", "history", "prod")).history).toHaveLength(1);
    await shows("status", "status");
  });

  test("download and verify", async () => {
    const download = ["download", "latest", "msi", "--from", "www", ...root, "--out", "got.msi"];
    expect((await shows("download", ...download)).result).toBe("downloaded");
    expect((await shows("download", ...download)).result).toBe("present");
    expect((await shows("verify", "verify", "www", ...root, "--artifacts")).verdict).toBe("ok");
    expect((await shows("verify", "verify", "www", ...root, "--sample", "3")).sample.seed).toMatch(/./);
    await shows("verify-other-build", "verify", "www", ...root, "--expect", "ab".repeat(32));
    const files = ["out/tool.msi", "out/other/tool.msi"];
    const { files: found } = await shows("verify-files", "verify", ...files, "--from", "www", ...root);
    expect(found.map(({ verdict }: { verdict: string }) => verdict)).toEqual(["listed", "unlisted"]);
    expect(found[1].nearest).toMatchObject({ same_name: true });
    await shows("problems", "download", "latest", "deb", "--from", "www", ...root);
  });

  test("rollback, and a withdrawal after it", async () => {
    made.write("releases/catalog.yaml", catalog("Another"));
    await succeed("build", "--released", "--site", "prod");
    await succeed("sign", "--site", "prod");
    await succeed("publish", "prod");
    const rollback = ["rollback", "prod", "--reason", "The name is wrong."];
    expect((await shows("rollback", ...rollback, "--dry-run")).result).toBe("planned");
    await shows("rollback", ...rollback, "--yes");
    expect((await shows("history", "history", "prod")).hold.reason).toBe("The name is wrong.");
    await shows("status", "status");
    await shows("problems", "publish", "prod");
    await succeed("retract", "1", "--reason", "It does not start.", "--yes");
    await succeed("build", "--released", "--site", "prod");
    await succeed("sign", "--site", "prod");
    await shows("publish", "publish", "prod", "--release-hold");
    const { files } = await shows("verify-files", "verify", "out/tool.msi", "--from", "www", ...root);
    expect(files[0]).toMatchObject({ verdict: "withdrawn", reason: "It does not start." });
  });

  test("keys", async () => {
    expect((await shows("trust-list", "trust", "list")).packslip).toBeNull();
    await shows("trust-rotate", "trust", "rotate", "online", "--keys", "keys");
    await shows("trust-sign", "trust", "sign", "--keys", "keys");
    await shows("trust-openpgp", "trust", "init", "keys", "--openpgp");
    const { key_id, public: line } = await shows("trust-packslip", "trust", "init", "keys", "--packslip");
    const list = await shows("trust-list", "trust", "list");
    expect(list.openpgp).toHaveLength(1);
    expect(list.packslip).toEqual({ key_id, public: line });
    await shows("trust-openpgp", "trust", "rotate", "openpgp", "--step", "announce", "--keys", "keys");
    await shows("problems", "trust", "rotate", "openpgp");
  });
});

test("serve prints lines about requests, builds and errors", async () => {
  await succeed("build", "--out", "served");
  const server = startRelcat(made.folder, env, ["serve", "--dir", "served", "--port", "0", "--json"]);
  const lines: string[] = [];
  let rest = "";
  const wake: (() => void)[] = [];
  server.stdout?.on("data", (chunk) => {
    const parts = (rest + String(chunk)).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    for (const each of wake.splice(0)) each();
  });
  const next = async (event: string): Promise<string> => {
    for (;;) {
      const found = lines.find((line) => JSON.parse(line).event === event);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => wake.push(resolve));
    }
  };
  const url = await addressOf(server);
  printed.as("serve-listening", await next("listening"));
  await (await fetch(`${url}/api/v1/package/`)).text();
  printed.as("request", await next("request"));
  made.write("releases/catalog.yaml", catalog("Served"));
  await succeed("build", "--out", "served");
  printed.as("site-replaced", await next("build"));
  writeFileSync(join(made.folder, "served/build.json"), "{}\n");
  printed.as("server-error", await next("error"));
  server.kill("SIGINT");
  await server;
});

test("this file prints every output of its group", () => {
  const others = ["problems", "status"];
  expect(printed.names.filter((name) => !others.includes(name))).toEqual([...groups["sites.test.ts"]].sort());
});
