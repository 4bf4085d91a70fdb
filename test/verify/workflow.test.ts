import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { lockFile } from "../../pipeline/system/lock.ts";
import { type SiteReader, siteAt } from "../../pipeline/verify/stores/site-reader.ts";
import { openTrustedSite } from "../../pipeline/verify/tuf-client.ts";
import { RelcatError } from "../../shared/errors.ts";
import { temporaryFolder } from "../support/run.ts";
import { inTime } from "../trust/support.ts";
import { day, described } from "./support.ts";
import { daysAhead, newKey, TufRepository } from "./tuf-repository.ts";

/** A user of a repository, who has its first root and remembers between visits. */
class User {
  readonly state = join(temporaryFolder(), "state");
  readonly root: Uint8Array;
  readonly site: SiteReader;

  constructor(repository: TufRepository, site = repository.site()) {
    this.root = repository.root(1);
    this.site = site;
  }

  open() {
    return openTrustedSite(this.site, this.root, this.state);
  }

  /** @returns why it was refused; "" where it was not */
  async refresh(): Promise<string> {
    try {
      await this.open();
      return "";
    } catch (error) {
      if (!(error instanceof RelcatError)) throw error;
      return `${error.code}: ${error.message}`;
    }
  }

  /** Roles that are remembered, with their versions. */
  remembered(): Record<string, number> {
    const files = readdirSync(this.state)
      .filter((name) => name !== lockFile)
      .sort();
    return Object.fromEntries(
      files.map((file) => {
        const { signed } = JSON.parse(readFileSync(join(this.state, file), "utf8"));
        return [file.replace(/\.json$/, ""), signed.version];
      }),
    );
  }
}

const all = { root: 1, snapshot: 1, targets: 1, timestamp: 1 };
const past = daysAhead(-1);

/** A repository that a client has seen completely. */
async function seen(prepare: (repository: TufRepository) => void = () => {}) {
  const repository = new TufRepository();
  prepare(repository);
  const user = new User(repository);
  expect(await user.refresh()).toBe("");
  return { repository, user };
}

test("a slower run with the same memory does not replace what a faster one has seen since", async () => {
  const repository = new TufRepository();
  const user = new User(repository);
  const { read, ...rest } = repository.site();
  let isHeld = true;
  // The answer is from before the next release, and arrives after another run has seen that release.
  const slow: SiteReader = {
    ...rest,
    async read(path, limit) {
      const answer = await read(path, limit);
      if (path !== "metadata/timestamp.json" || !isHeld) return answer;
      isHeld = false;
      repository.next("targets");
      expect(await user.refresh()).toBe("");
      return answer;
    },
  };
  await openTrustedSite(slow, user.root, user.state).catch(() => undefined);
  expect(isHeld).toBe(false);
  expect(user.remembered()).toEqual({ root: 1, snapshot: 2, targets: 2, timestamp: 2 });
});

test("many runs with the same new memory all succeed", async () => {
  const user = new User(new TufRepository());
  expect(await Promise.all(Array.from({ length: 8 }, () => user.refresh()))).toEqual(Array(8).fill(""));
  expect(user.remembered()).toEqual(all);
});

describe("5.2 the trusted root", () => {
  test("has valid signatures, or nothing is requested", async () => {
    const repository = new TufRepository();
    repository.keys.set("root", [newKey()]);
    repository.publish("root");
    expect(await new User(repository).refresh()).toMatch(/^site-tampered: .*has 0 of the 1 signatures/);
    expect(repository.asked).toEqual([]);
  });
});

describe("5.3 the root", () => {
  test("5.3.8 is stored immediately, even if the next one is refused", async () => {
    const { repository, user } = await seen();
    repository.next("root");
    repository.keys.set("root", [newKey()]);
    repository.next("root");
    expect(await user.refresh()).toMatch(/3\.root\.json \(role root\) is refused: it has 0 of the 1 sign/);
    expect(user.remembered()).toEqual({ ...all, root: 2 });
    expect(readFileSync(join(user.state, "root.json"))).toEqual(repository.root(2));
  });

  test("5.3.5 has the version of its address", async () => {
    const { repository, user } = await seen();
    repository.edit("root").version = 3;
    repository.publish("root", 2);
    expect(await user.refresh()).toMatch(/2\.root\.json .* it has version 3, expected 2/);
    expect(user.remembered()).toEqual(all);
  });

  test("5.3.10 is stored even if it has expired, and nothing after it is used", async () => {
    const { repository, user } = await seen();
    repository.next("root");
    repository.edit("root").expires = past;
    repository.next("root");
    repository.next("targets");
    expect(await user.refresh()).toMatch(/^site-expired: .*root metadata has expired/);
    expect(user.remembered()).toEqual({ ...all, root: 3 });
  });

  test.each(["timestamp", "snapshot"])(
    "5.3.11 resets remembered versions if the %s key changes",
    async (role) => {
      const { repository, user } = await seen((thief) => {
        thief.edit("targets").version = 90;
        thief.edit("snapshot").version = 90;
        thief.edit("timestamp").version = 90;
        thief.next("targets");
      });
      expect(user.remembered()).toEqual({ root: 1, snapshot: 91, targets: 91, timestamp: 91 });
      repository.rotate(role);
      repository.next("root");
      for (const name of ["targets", "snapshot", "timestamp"]) repository.edit(name).version = 1;
      repository.next("targets");
      expect(await user.refresh()).toBe("");
      expect(user.remembered()).toEqual({ root: 2, snapshot: 2, targets: 2, timestamp: 2 });
    },
  );

  test("5.3.11 keeps remembered versions if a key is added, or a threshold is higher", async () => {
    const { repository, user } = await seen((before) => before.next("targets"));
    for (const role of ["timestamp", "snapshot"]) {
      repository.keys.get(role)?.push(newKey());
      repository.allow(role, 2);
    }
    repository.next("root");
    repository.edit("timestamp").version = 0;
    repository.keys.get("timestamp")?.pop();
    repository.next("timestamp");
    expect(await user.refresh()).toMatch(/role timestamp\) is refused: it has 1 of the 2 signatures/);
    expect(user.remembered()).toEqual({ root: 2, snapshot: 2, targets: 2, timestamp: 2 });
  });

  test("counts one key once, under any names", async () => {
    const { repository, user } = await seen();
    const key = repository.keys.get("snapshot")?.[0] ?? newKey();
    const twin = { ...key, id: "b".repeat(64), public: key.public.toUpperCase() };
    repository.keys.set("snapshot", [key, twin]);
    repository.allow("snapshot", 2);
    repository.next("root");
    repository.next("snapshot");
    expect(await user.refresh()).toMatch(/\(role root\) gives snapshot the same key under two names/);
    expect(user.remembered()).toEqual(all);
  });

  test("is read with unknown members", async () => {
    const { repository, user } = await seen();
    repository.edit("root")["x-other"] = { deep: [1] };
    repository.edit("root").roles.root["x-other"] = "value";
    repository.next("root");
    expect(await user.refresh()).toBe("");
    expect(user.remembered()).toEqual({ ...all, root: 2 });
  });
});

describe("5.4 the timestamp", () => {
  test("5.4.2 is refused with a wrong signature, and the new root is kept", async () => {
    const { repository, user } = await seen();
    repository.next("root");
    repository.keys.set("timestamp", [newKey()]);
    repository.next("timestamp");
    expect(await user.refresh()).toMatch(/\(role timestamp\) is refused: it has 0 of the 1 signatures/);
    expect(user.remembered()).toEqual({ ...all, root: 2 });
  });

  test("5.4.3 is not replaced by a lower version, nor by another of the same version", async () => {
    const { repository, user } = await seen((before) => before.next("timestamp"));
    repository.edit("timestamp").meta["snapshot.json"].version = 100;
    repository.publish("timestamp");
    repository.asked.length = 0;
    expect(await user.refresh()).toBe("");
    expect(repository.asked).toEqual(["metadata/2.root.json", "metadata/timestamp.json"]);
    repository.edit("timestamp").version = 1;
    repository.publish("timestamp");
    expect(await user.refresh()).toMatch(/^site-stale: .*\(version 1 < 2\)/);
    expect(user.remembered()).toEqual({ ...all, timestamp: 2 });
  });

  test("5.4.3 is compared with an expired one", async () => {
    const { repository, user } = await seen((before) => {
      before.edit("root").expires = daysAhead(90);
      before.publish("root");
      before.next("snapshot");
    });
    repository.edit("timestamp").meta["snapshot.json"] = { version: 1 };
    repository.edit("timestamp").expires = daysAhead(90);
    repository.next("timestamp");
    const later = await inTime(Date.now() + 40 * day, () => user.refresh());
    expect(later).toMatch(/names an older snapshot than one seen here before \(version 1 < 2\)/);
    expect(user.remembered()).toEqual({ ...all, snapshot: 2, timestamp: 2 });
  });

  test("5.4.4 is not stored if it has expired", async () => {
    const { repository, user } = await seen();
    repository.edit("timestamp").expires = past;
    repository.next("timestamp");
    expect(await user.refresh()).toMatch(/^site-expired: .*timestamp metadata has expired/);
    expect(user.remembered()).toEqual(all);
  });

  test("can be valid for any time", async () => {
    const { repository, user } = await seen();
    repository.edit("timestamp").expires = daysAhead(900);
    repository.next("timestamp");
    expect(await user.refresh()).toBe("");
    expect(user.remembered()).toEqual({ ...all, timestamp: 2 });
  });

  test("is refused if the clock is earlier than its signature", async () => {
    const { repository, user } = await seen();
    repository.edit("timestamp")["x-relcat-signed"] = daysAhead(3);
    repository.next("timestamp");
    expect(await user.refresh()).toMatch(/^clock: .*in the future by your clock/);
    expect(await user.refresh()).toMatch(/^clock: /);
  });
});

describe("5.5 the snapshot", () => {
  const refusals: [string, (repository: TufRepository) => void, RegExp][] = [
    [
      "5.5.2 has the hash that the timestamp says",
      (repository) => {
        repository.next("snapshot");
        repository.edit("snapshot").expires = daysAhead(31);
        repository.publish("snapshot");
      },
      /2\.snapshot\.json \(role snapshot\) is refused: it has another SHA-256/,
    ],
    [
      "5.5.3 has the signatures it needs",
      (repository) => {
        repository.keys.set("snapshot", [newKey()]);
        repository.next("snapshot");
      },
      /it has 0 of the 1 signatures it needs/,
    ],
    [
      "5.5.4 has the version that the timestamp says",
      (repository) => {
        repository.publish("snapshot", 2);
        repository.edit("timestamp").meta["snapshot.json"] = { version: 2 };
        repository.next("timestamp");
      },
      /it has another version than the timestamp says/,
    ],
    [
      "5.5.5 goes back behind no version that was seen",
      (repository) => {
        repository.edit("snapshot").meta["targets.json"] = { version: 1 };
        repository.next("snapshot");
      },
      /names an older targets \(role targets\) than was seen here before \(version 1 < 2\)/,
    ],
    [
      "5.5.5 lacks no role that was seen",
      (repository) => {
        repository.edit("snapshot").meta = {};
        repository.next("snapshot");
      },
      /lacks the role targets, which was seen before/,
    ],
    [
      "5.5.6 has not expired",
      (repository) => {
        repository.edit("snapshot").expires = past;
        repository.next("snapshot");
      },
      /^site-expired: .*snapshot metadata has expired/,
    ],
  ];
  test.each(refusals)("%s, or it is not stored, but the timestamp is", async (name, attack, said) => {
    const { repository, user } = await seen((before) => {
      if (name.startsWith("5.5.5")) before.next("targets");
    });
    const before = user.remembered();
    attack(repository);
    expect(await user.refresh()).toMatch(said);
    expect(user.remembered()).toEqual({ ...before, timestamp: Number(before.timestamp) + 1 });
  });

  test("is not requested again if the timestamp names the known one", async () => {
    const { repository, user } = await seen((before) => before.next("snapshot"));
    repository.edit("snapshot").version = 1;
    repository.publish("snapshot", 2);
    repository.asked.length = 0;
    expect(await user.refresh()).toBe("");
    expect(repository.asked.at(-1)).toBe("metadata/timestamp.json");
  });
});

describe("5.6 the targets", () => {
  const refusals: [string, (repository: TufRepository) => void, RegExp][] = [
    [
      "5.6.2 have the hash that the snapshot says",
      (repository) => {
        repository.next("targets");
        repository.edit("targets").expires = daysAhead(31);
        repository.publish("targets");
      },
      /2\.targets\.json \(role targets\) is refused: it has another SHA-256/,
    ],
    [
      "5.6.3 have the signatures they need",
      (repository) => {
        repository.keys.set("targets", [newKey()]);
        repository.next("targets");
      },
      /it has 0 of the 1 signatures it needs/,
    ],
    [
      "5.6.4 have the version that the snapshot says",
      (repository) => {
        repository.publish("targets", 2);
        repository.edit("snapshot").meta["targets.json"] = { version: 2 };
        repository.next("snapshot");
      },
      /has version 1, but the snapshot says 2/,
    ],
    [
      "5.6.5 have not expired",
      (repository) => {
        repository.edit("targets").expires = past;
        repository.next("targets");
      },
      /^site-expired: .*targets metadata has expired/,
    ],
  ];
  test.each(refusals)("%s, or they are not stored, but the snapshot is", async (_, attack, said) => {
    const { repository, user } = await seen();
    attack(repository);
    expect(await user.refresh()).toMatch(said);
    expect(user.remembered()).toEqual({ ...all, snapshot: 2, timestamp: 2 });
  });

  test("5.6.6 are stored with the roles they delegate to, each when it was searched", async () => {
    const { repository, user } = await seen((before) => {
      before.delegate("signed");
      before.delegate("expired");
      before.addTarget("file", "content", ["sha256"], "expired");
      before.edit("expired").expires = past;
      before.next("expired", false);
      before.edit("snapshot").meta["expired.json"].version = 2;
      before.next("targets");
    });
    const known = { root: 1, snapshot: 2, targets: 2, timestamp: 2 };
    expect(user.remembered()).toEqual(known);
    const trusted = await user.open();
    await expect(trusted.target("file")).rejects.toThrow(/the expired metadata has expired/);
    expect(user.remembered()).toEqual({ ...known, signed: 1 });
    repository.edit("expired").expires = daysAhead(9);
    repository.next("expired");
    expect(String(await (await user.open()).target("file"))).toBe("content");
    expect(user.remembered()).toMatchObject({ expired: 3 });
  });

  test("5.6.7 are searched depth first, each role once, up to a terminating one", async () => {
    const { repository, user } = await seen((before) => {
      before.delegate("a");
      before.delegate("b");
      before.delegate("c", {}, "a");
      before.delegate("b2", { paths: ["*.zip"] }, "a");
      before.edit("a").delegations.roles.push({ ...before.edit("a").delegations.roles[0], name: "a" });
      before.delegate("d", { terminating: true }, "c");
      before.delegate("e", {}, "c");
      for (const role of ["a", "c"]) before.publish(role);
      before.next("targets");
    });
    const trusted = await user.open();
    repository.asked.length = 0;
    expect(await trusted.target("nothing")).toBeUndefined();
    expect(repository.asked).toEqual(["a", "c", "d"].map((role) => `metadata/1.${role}.json`));
  });
});

describe("the name of a role", () => {
  const unusual = ["?", "#", "/delegated", "../delegated", "a b", "%2e", "Root", "..", "x".repeat(300)];
  test.each(unusual)("%s is quoted in requests and in file names", async (name) => {
    const repository = new TufRepository();
    repository.delegate(name);
    repository.addTarget("dir/a file?.txt", "content", ["sha256"], name);
    repository.edit("targets").delegations.roles[0].paths = ["dir/*"];
    repository.publish(name);
    repository.next("targets");
    const requests: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      requests.push(url);
      const path = url.slice(1);
      const bytes = repository.files.get(path) ?? repository.files.get(decodeURIComponent(path));
      response.writeHead(bytes ? 200 : 404).end(bytes);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const user = new User(repository, siteAt(url));
      expect(String(await (await user.open()).target("dir/a file?.txt"))).toBe("content");
      expect(requests).toContain(`/metadata/1.${encodeURIComponent(name)}.json`);
      const files = readdirSync(user.state).filter((name) => name !== lockFile);
      expect(files).toHaveLength(name.length > 200 ? 4 : 5);
      expect(files.every((file) => /^[a-z0-9%_-][A-Za-z0-9%._-]*\.json$/.test(file))).toBe(true);
      expect(user.remembered()).toMatchObject({ root: 1, targets: 2 });
      requests.length = 0;
      expect(String(await (await user.open()).target("dir/a file?.txt"))).toBe("content");
      expect(requests).toHaveLength(name.length > 200 ? 4 : 3);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe("5.7 a target", () => {
  test.each([[["sha512"]], [["sha384"]], [["sha512", "sha256"]], [["md5", "sha512"]]])(
    "is compared with its hashes: %s",
    async (algorithms) => {
      const { repository, user } = await seen((before) => {
        before.addTarget("dir/file", "content", algorithms);
        before.next("targets");
      });
      const trusted = await user.open();
      expect(String(await trusted.target("dir/file"))).toBe("content");
      const [stored = ""] = [...repository.files.keys()].filter((path) => path.startsWith("targets/"));
      repository.files.set(stored, Buffer.from("CONTENT"));
      await expect(trusted.target("dir/file")).rejects.toThrow(/is not what was signed/);
    },
  );

  test("must match every one of its hashes", async () => {
    const { user } = await seen((before) => {
      before.addTarget("file", "content", ["sha512", "sha256"]);
      before.edit("targets").targets.file.hashes.sha256 = "0".repeat(64);
      before.next("targets");
    });
    await expect((await user.open()).target("file")).rejects.toThrow(/is not what was signed/);
  });

  test.each([
    [{ md5: "0".repeat(32) }, /has no hash of sha256, sha384, sha512/],
    [{}, /has no hash of/],
    [{ sha256: "../../x" }, /has a hash that is not in hexadecimal digits/],
  ])("is refused with the hashes %s", async (hashes, said) => {
    const { user } = await seen((before) => {
      before.addTarget("file", "content", ["sha256"]);
      before.edit("targets").targets.file.hashes = hashes;
      before.next("targets");
    });
    await expect((await user.open()).target("file")).rejects.toThrow(said);
  });

  test("is found without its hash in its name if snapshots are not consistent", async () => {
    const repository = new TufRepository();
    repository.edit("root").consistent_snapshot = false;
    repository.publish("root");
    repository.addTarget("dir/file", "content", ["sha512"]);
    repository.publish("targets");
    for (const [path, bytes] of [...repository.files])
      repository.files.set(
        path
          .replace(/1\.(snapshot|targets)\.json$|[0-9a-f]{128}\./, "$1.json")
          .replace(/dir\/\.json/, "dir/"),
        bytes,
      );
    const trusted = await new User(repository).open();
    expect(String(await trusted.target("dir/file"))).toBe("content");
    expect(repository.asked).toContain("metadata/snapshot.json");
    expect(repository.asked).toContain("targets/dir/file");
  });
});

test("a delegation cannot give one key two names", async () => {
  const { repository, user } = await seen((before) => before.delegate("part"));
  const [role] = repository.edit("targets").delegations.roles;
  const key = { ...(repository.keys.get("part")?.[0] ?? newKey()), id: "c".repeat(64) };
  repository.edit("targets").delegations.keys[key.id] = described(key);
  role.keyids.push(key.id);
  role.threshold = 2;
  repository.next("targets");
  expect(await user.refresh()).toMatch(/\(role targets\) gives part the same key under two names/);
  expect(user.remembered()).toEqual({ ...all, snapshot: 2, timestamp: 2 });
});
