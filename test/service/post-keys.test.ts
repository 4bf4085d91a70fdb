import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { basic, newDatabase, pepper, testController } from "../controller/support.ts";
import { program } from "../support/run.ts";
import { threeRecords } from "./origin.ts";
import { openCatalog, posted, postTo, rpm } from "./posting.ts";

let stop: () => Promise<unknown>;
let url: string;
let keys: { may: Record<string, string>; mayNot: Record<string, string>; revoked: Record<string, string> };

beforeAll(async () => {
  const database = await newDatabase();
  const { call, makeKey, makeUser, setTime } = await testController({ database });
  setTime(Date.now());
  const [may, mayNot, revoked] = [
    await makeKey(["packages:write"]),
    await makeKey(),
    await makeKey(["packages:write"]),
  ];
  await call("DELETE", `/api_keys/${revoked.id}`, { headers: (await makeUser("Owner")).headers });
  keys = { may: may.headers, mayNot: mayNot.headers, revoked: revoked.headers };
  const { out } = await threeRecords();
  const args = [
    "serve",
    "--json",
    "--dir",
    out,
    "--port",
    "0",
    "--releases",
    openCatalog().folder,
    "--database",
    database,
  ];
  const child = execa(process.execPath, [program, ...args], {
    env: { RELCAT_PEPPER: pepper },
    reject: false,
  });
  stop = () => {
    child.kill("SIGTERM");
    return child;
  };
  url = await new Promise<string>((resolve, reject) => {
    child.stdout?.once("data", (line) => resolve(JSON.parse(String(line)).url));
    void child.then(({ stderr }) => reject(new Error(String(stderr))));
  });
});
afterAll(() => stop());

test("a controller's key can post if it has the scope", async () => {
  const answer = await postTo(url, posted(rpm("a.rpm")), keys.may);
  expect(answer.status).toBe(201);
});

test("a key without the scope is forbidden, and a revoked or foreign one is unknown", async () => {
  const forbidden = await postTo(url, posted(rpm("b.rpm")), keys.mayNot);
  expect([forbidden.status, JSON.parse(forbidden.text)]).toEqual([
    403,
    { detail: "You do not have permission to perform this action." },
  ]);
  const others = [keys.revoked, basic("nobody", "nothing"), { authorization: "Bearer x" }];
  for (const headers of others) expect((await postTo(url, posted(rpm("b.rpm")), headers)).status).toBe(401);
});
