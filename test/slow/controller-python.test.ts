import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { password, testController } from "../controller/support.ts";
import { repository } from "../support/run.ts";

test("a script in Python gets along with what it has always sent and read", async () => {
  const { enroll, makeUser, url } = await testController();
  const { email } = await makeUser("Owner");
  const names = ["first", "second", "third", "fourth", "fifth"];
  for (const name of names) await enroll({ name });
  const script = join(repository, "test/fixtures/controller/client.py");
  const { stdout } = await execa("python3", [script, url, email, password]);
  expect(JSON.parse(stdout)).toEqual({
    user: email,
    made: 201,
    order: names,
    changed: 5,
    again: 0,
    states: Array(5).fill("accepted"),
    pages: [2, 2, 1],
    me: true,
    refused: 403,
    bulk_failure: "urn:relcat:problem:not-found",
    revoked: 204,
    afterwards: 401,
  });
});
