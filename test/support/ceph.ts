import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import type { S3Place } from "../../pipeline/documents/sites.ts";
import { freePort } from "./port.ts";

export interface Gateway {
  endpoint: string;
  /** Credentials and region, for processes. */
  environment: Record<string, string>;
  /** File with a line for each request that was answered. */
  log: string;
  stop(): Promise<void>;
}

const id = "GATEWAYTEST";
const secret = "gateway/test+secret";
const patience = 150_000;

/** Starts a Ceph object gateway on the loopback interface, with objects in memory. */
export async function startGateway(): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), "relcat-ceph-"));
  const [monitorPort, port] = [await freePort(), await freePort()];
  const cluster = randomUUID();
  const monitor = `v2:127.0.0.1:${monitorPort}`;
  const config = join(folder, "ceph.conf");
  const keyring = join(folder, "keyring");
  for (const name of ["mon", "osd"]) mkdirSync(join(folder, name));
  writeFileSync(config, settings(folder, keyring, cluster, monitor, port));

  const daemons: { log: string; end: () => Promise<unknown> }[] = [];
  const run = (program: string, ...args: string[]) =>
    execa(program, args, { cwd: folder, timeout: patience, env: { CEPH_CONF: config } });
  const start = (program: string, ...args: string[]) => {
    const log = join(folder, `${program}.log`);
    const daemon = execa(program, ["-f", ...args], {
      cwd: folder,
      env: { CEPH_CONF: config },
      stdin: "ignore",
      stdout: { file: log },
      stderr: { file: log },
      reject: false,
    });
    const end = () => {
      daemon.kill("SIGKILL"); // Its data is in memory, so nothing needs saving.
      return daemon;
    };
    daemons.push({ log, end });
  };
  const stop = async () => {
    await Promise.all(daemons.map(({ end }) => end()));
    rmSync(folder, { recursive: true, force: true });
  };

  try {
    await run("ceph-authtool", "-C", keyring, "-g", "-n", "mon.", "--cap", "mon", "allow *");
    for (const name of ["client.admin", "osd.0", "client.rgw"]) {
      const rights = ["mon", "osd", "mgr"].flatMap((service) => ["--cap", service, "allow *"]);
      await run("ceph-authtool", keyring, "-g", "-n", name, ...rights);
    }
    await run("monmaptool", "--create", "--fsid", cluster, "--addv", "a", `[${monitor}]`, "monmap");
    await run("ceph-mon", "-i", "a", "--mkfs", "--monmap", "monmap", "--keyring", keyring);
    start("ceph-mon", "-i", "a");
    await run("ceph", "auth", "import", "-i", keyring);
    await run("ceph", "osd", "create");
    await run("ceph-osd", "-i", "0", "--mkfs");
    start("ceph-osd", "-i", "0");
    start("radosgw", "-n", "client.rgw");
    const user = ["--uid", "test", "--display-name", "test", "--access-key", id, "--secret-key", secret];
    await run("radosgw-admin", "user", "create", ...user);
    await answers(`http://127.0.0.1:${port}/`);
  } catch (error) {
    const said = daemons.map(({ log }) => tail(log)).join("\n");
    await stop();
    throw new Error(`the gateway does not start: ${(error as Error).message}\n${said}`, { cause: error });
  }
  return {
    endpoint: `http://127.0.0.1:${port}`,
    environment: {
      AWS_ACCESS_KEY_ID: id,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_REGION: "us-east-1",
      AWS_EC2_METADATA_DISABLED: "true",
    },
    log: join(folder, "radosgw.log"),
    stop,
  };
}

const settings = (
  folder: string,
  keyring: string,
  cluster: string,
  monitor: string,
  port: number,
) => `[global]
fsid = ${cluster}
mon host = ${monitor}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = ${keyring}
mon data = ${folder}/mon
osd data = ${folder}/osd
osd objectstore = memstore
memstore device bytes = ${2 ** 30}
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
mon allow pool size one = true
paxos propose interval = 0.05
paxos min wait = 0.01
log to file = false
log to stderr = true
mon cluster log to file = false
crash dir = ${folder}
run dir = ${folder}
admin socket =
pid file =
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw dns name = localhost
`;

/** Polls, because the program does not report that it is ready. */
async function answers(url: string): Promise<void> {
  const deadline = Date.now() + patience;
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response) return void (await response.body?.cancel());
    if (Date.now() > deadline) throw new Error(`${url} does not answer`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const tail = (log: string) => {
  try {
    return readFileSync(log, "utf8").slice(-2000);
  } catch {
    return "";
  }
};

let buckets = 0;

/** An empty bucket at the gateway that the slow run has started. */
export async function newGatewayBucket(): Promise<{ place: S3Place; environment: Record<string, string> }> {
  const { endpoint, environment }: Omit<Gateway, "log" | "stop"> = JSON.parse(
    process.env.RELCAT_TEST_S3 ?? "{}",
  );
  const { CreateBucketCommand, S3Client } = await import("@aws-sdk/client-s3");
  const credentials = { accessKeyId: id, secretAccessKey: secret };
  const region = "us-east-1";
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  const bucket = `test-${process.pid}-${++buckets}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  const place = {
    kind: "s3",
    bucket,
    prefix: "",
    endpoint,
    region,
    pathStyle: true,
    unquotedEtags: true,
  } as const;
  return { place, environment };
}
