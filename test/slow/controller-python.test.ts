import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { password, testController } from "../controller/support.ts";
import { repository } from "../support/run.ts";

test("an existing Python script works unchanged", async () => {
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
    me: [true, ["devices", "user"]],
    refused: 403,
    bulk_failure: "urn:relcat:problem:not-found",
    revoked: 204,
    afterwards: 401,
    user_made: [201, true, "quota"],
    rights: [true, true],
    users: [email, "grace"].sort(),
    one_user: true,
    me_unchanged: email,
    active: 409,
    deleted: 204,
    key_users: [["id", "name", "email"]],
    key_upsert: 403,
    modes: Array(2).fill([200, 200, 200, 200, 200, 200, 200, 200, 204]),
    left: 204,
    signed_out: 401,
  });
});
