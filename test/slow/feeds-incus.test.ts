import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { afterFile } from "../support/after-file.ts";
import { pathOf } from "../support/artifacts.ts";
import { certify } from "../support/certify.ts";
import { freePort } from "../support/port.ts";
import { type Project, project } from "../support/project.ts";
import { temporaryFolder } from "../support/run.ts";

/** Debian's lxc at a published site behind nginx, over TLS. */

let made: Project;
let url: string;
let lxc: (...args: string[]) => Promise<{ exitCode?: number | undefined; stdout: string; stderr: string }>;

/** Ingests, uploads and cuts images. @param files fixtures by the names under which they are released */
async function release(version: string, files: Readonly<Record<string, string>>): Promise<void> {
  made.write(`releases/${version}/release.yaml`, { version, date: "2026-08-19" });
  mkdirSync(join(made.folder, version));
  const paths = Object.entries(files).map(([name, fixture]) => {
    cpSync(pathOf(`vm/${fixture}`), join(made.folder, version, name));
    return `${version}/${name}`;
  });
  const manifest = `releases/${version}/manifests/build.json`;
  await made.succeed("ingest", "--release", version, "--out", manifest, ...paths);
  await made.succeed("upload", "--site", "test", "--manifest", manifest, ...paths);
  await made.succeed("cut", version, "--now", `2026-${version.slice(3, 5)}-19T10:00:00Z`);
}

async function publish(): Promise<void> {
  await made.succeed("build", "--released", "--site", "test");
  await made.succeed("publish", "test");
}

/** nginx with the configuration that relcat writes. */
async function startNginx(port: number, { certificate, key }: { certificate: string; key: string }) {
  const home = temporaryFolder();
  const configuration = join(made.folder, "www/hosting/nginx");
  const maps = readdirSync(configuration).filter((name) => name.endsWith(".map"));
  const includes = maps.map((name) => `include ${join(configuration, name)};`).join("\n");
  writeFileSync(
    join(home, "nginx.conf"),
    `user root; pid ${home}/nginx.pid; error_log ${home}/error.log; events {}
http { access_log off; include /etc/nginx/mime.types; ${includes}
server { listen 127.0.0.1:${port} ssl; ssl_protocols TLSv1.3; ssl_certificate ${certificate}; ssl_certificate_key ${key};
root ${made.folder}/www/current; include ${configuration}/nginx.conf; } }\n`,
  );
  await execa("nginx", ["-p", home, "-c", join(home, "nginx.conf")]);
  afterFile(() => process.kill(Number(readFileSync(join(home, "nginx.pid"), "utf8")), "SIGQUIT"));
}

/** A new user of lxc. @param trusted certificates of authorities; undefined: those of the system */
function client(trusted?: string): typeof lxc {
  const home = temporaryFolder();
  const env = { HOME: home, LXD_CONF: home, ...(trusted && { SSL_CERT_FILE: trusted }) };
  return (...args) => execa("lxc", args, { env, cwd: home, reject: false, stdin: "ignore" });
}

async function succeed(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await lxc(...args);
  if (exitCode !== 0) throw new Error(`lxc ${args.join(" ")}: ${exitCode}\n${stdout}\n${stderr}`);
  return stdout;
}

beforeAll(async () => {
  const port = await freePort();
  url = `https://127.0.0.1:${port}`;
  made = project({
    "releases/catalog.yaml": {
      product: "Acme",
      require: {},
      base_url: url,
      hosts: ["nginx"],
      precompress: ["gz"],
      feeds: { incus: { os: "acme" } },
      ingest: [{ match: "*.incus.tar.xz", package_type: "incus" }],
      sites: { test: { url: "dir:www", settles: false } },
    },
  });
  await release("26.07.001", { "vm-amd64.qcow2": "acme-1.2.3-v2.qcow2" });
  await release("26.08.002", {
    "vm amd64+1.qcow2": "acme-1.2.3.qcow2",
    "vm-amd64-efi.qcow2": "acme-1.2.3-efi.qcow2",
    "vm-arm64.qcow2": "acme-1.2.3-zstd.qcow2",
    "box.incus.tar.xz": "acme-1.2.3-incus.tar.xz",
  });
  await publish();
  const identity = await certify("IP:127.0.0.1");
  await startNginx(port, identity);
  lxc = client(identity.authority);
  await succeed("remote", "add", "acme", url, "--protocol", "simplestreams");
});

interface Image {
  fingerprint: string;
  type: string;
  architecture: string;
  aliases: { name: string }[];
  properties: Record<string, string>;
}

const listed = async (): Promise<Image[]> =>
  JSON.parse(await succeed("image", "list", "acme:", "--format", "json"));

/** The part of an image's name that does not depend on the machine's own architecture. */
const summaryOf = ({ type, architecture, properties: { release, variant, serial } }: Image) =>
  [release, variant, architecture, type, serial].join(" ");

test("lxc lists every disk of every release, and no archive of a virtual machine, which LXD cannot start", async () => {
  expect((await listed()).map(summaryOf).sort()).toEqual([
    "26.07.001 qcow x86_64 virtual-machine 20260719_26.07.001",
    "26.08.002 qcow aarch64 virtual-machine 20260819_26.08.002",
    "26.08.002 qcow x86_64 virtual-machine 20260819_26.08.002",
    "26.08.002 qcow-efi x86_64 virtual-machine 20260819_26.08.002",
  ]);
});

const fingerprintOf = async (alias: string): Promise<string | undefined> =>
  /^Fingerprint: ([0-9a-f]{64})$/m.exec(await succeed("image", "info", `acme:${alias}`))?.[1];

const sha256 = (...parts: readonly Uint8Array[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");

/** Files that lxc exports into an empty folder. */
async function exported(alias: string): Promise<Record<string, Buffer>> {
  const folder = temporaryFolder();
  await succeed("image", "export", `acme:${alias}`, folder);
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

test("lxc finds an image by its version, its variant and its architecture", async () => {
  const [disk, efi] = [
    await fingerprintOf("26.08.002/qcow/amd64"),
    await fingerprintOf("26.08.002/qcow-efi/amd64"),
  ];
  expect(disk).toMatch(/^[0-9a-f]{64}$/);
  expect(efi).not.toBe(disk);
  expect(await fingerprintOf("26.08.002/amd64")).toBe(efi);
  expect(await fingerprintOf("latest/amd64")).toBe(efi);
  expect(await fingerprintOf("latest/qcow/amd64")).toBe(disk);
  expect(await fingerprintOf("26.07.001/amd64")).not.toBe(disk);
  expect((await lxc("image", "info", "acme:26.06.001")).stderr).toMatch(/not found|couldn't be found/);
});

test("lxc exports the disk and its metadata, and both have the fingerprint", async () => {
  const files = await exported("26.08.002/qcow/amd64");
  const names = Object.keys(files).sort();
  expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.incus\.tar\.xz$/), "vm amd64+1.qcow2"]);
  const [metadata, disk] = names.map((name) => files[name] ?? Buffer.alloc(0));
  expect(disk?.equals(readFileSync(pathOf("vm/acme-1.2.3.qcow2")))).toBe(true);
  expect(sha256(metadata ?? Buffer.alloc(0), disk ?? Buffer.alloc(0))).toBe(
    await fingerprintOf("26.08.002/qcow/amd64"),
  );
});

test("tar and xz read the metadata", async () => {
  const [file = ""] = readdirSync(join(made.folder, "www/current/streams")).filter((name) =>
    name.endsWith(".incus.tar.xz"),
  );
  const path = join(made.folder, "www/current/streams", file);
  await execa("xz", ["--test", path]);
  const { stdout } = await execa("tar", ["-xOf", path, "metadata.yaml"]);
  expect(stdout).toMatch(/^architecture: "(x86_64|aarch64)"\ncreation_date: \d+\nproperties:\n/);
});

describe("lxc refuses an export", () => {
  const folder = () => realpathSync(join(made.folder, "www/current"));
  /** Exports while one byte of a file of the site is another. */
  async function exportWith(path: string) {
    const file = join(folder(), path);
    const bytes = readFileSync(file);
    const copy = Buffer.from(bytes);
    copy[copy.length >> 1] = (copy[copy.length >> 1] ?? 0) ^ 1;
    writeFileSync(file, copy);
    const target = temporaryFolder();
    const { exitCode, stderr } = await lxc("image", "export", "acme:26.08.002/qcow/amd64", target);
    writeFileSync(file, bytes);
    return { exitCode, stderr };
  }

  test("if the disk was changed", async () => {
    const { exitCode, stderr } = await exportWith("files/26.08.002/vm amd64+1.qcow2");
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Hash mismatch")]);
  });

  test("if the metadata was changed", async () => {
    const images = JSON.parse(readFileSync(join(folder(), "streams/v1/images.json"), "utf8"));
    const { items } = images.products["acme:26.08.002:amd64:qcow"].versions["20260819_26.08.002"];
    const { exitCode, stderr } = await exportWith(items["lxd.tar.xz"].path);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("Hash mismatch")]);
  });
});

test("lxc refuses a server whose certificate it does not trust", async () => {
  const stranger = client();
  await stranger("remote", "add", "acme", url, "--protocol", "simplestreams");
  const { exitCode, stderr } = await stranger("image", "list", "acme:");
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("certificate signed by unknown authority")]);
});

test("the names move to the images of a later release", async () => {
  const before = await fingerprintOf("latest/amd64");
  await release("26.09.001", { "vm-amd64-efi.qcow2": "acme-1.2.3-v2.qcow2" });
  await publish();
  expect(await fingerprintOf("latest/amd64")).toBe(await fingerprintOf("26.09.001/amd64"));
  expect(await fingerprintOf("26.08.002/amd64")).toBe(before);
  await made.succeed("retract", "26.09.001", "--reason", "Does not start", "--yes");
  await publish();
  expect(await fingerprintOf("latest/amd64")).toBe(before);
});

test("a withdrawn image leaves the list, the names move to the images that are left, and its metadata is kept", async () => {
  const before = await exported("26.08.002/qcow-efi/amd64");
  const [tarball = ""] = Object.keys(before).filter((name) => name.endsWith(".incus.tar.xz"));
  const records = JSON.parse(
    readFileSync(join(made.folder, "www/current/api/v1/package/index.json"), "utf8"),
  );
  const { id } = records.find(({ name }: { name: string }) => name === "vm-amd64-efi.qcow2");
  await made.succeed("retract", String(id), "--reason", "Does not start", "--yes");
  await publish();
  expect((await listed()).map(({ properties }) => properties.variant)).not.toContain("qcow-efi");
  expect(await fingerprintOf("latest/amd64")).toBe(await fingerprintOf("26.08.002/qcow/amd64"));
  expect(existsSync(join(made.folder, "www/current/streams", tarball))).toBe(true);
});
