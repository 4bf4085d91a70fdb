import { describe, expect, test } from "vitest";
import { controlOf } from "../site/feeds/debs.ts";
import { rpmOf } from "../site/feeds/rpms.ts";
import { artifact, type Files, firstCut, project, release } from "../support/project.ts";

const catalog = (suites: object): Files => ({
  "releases/catalog.yaml": { product: "Example", require: {}, feeds: { apt: { suites } } },
});

/** A deb with its control paragraph; the checksum is made of one digit. */
const deb = (file: string, digit: string, version: string, rest: object = {}) =>
  artifact(file, "deb", digit, {
    size: 10,
    package: { type: "deb", arch: "amd64", control: controlOf("tool", version, "amd64") },
    ...rest,
  });

const problemsOf = async (files: Files) => {
  const { stdout, stderr } = await project(files).run("check");
  return `${stdout}\n${stderr}`;
};

describe("two debs with one package, version and architecture", () => {
  const twice: Files = {
    ...catalog({ stable: {} }),
    ...release("26.08.001", [deb("a.deb", "1", "1.0")]),
    ...release("26.09.001", [deb("b.deb", "2", "1.0")]),
  };

  test("are an error before they are cut", async () => {
    expect(await problemsOf(twice)).toContain(
      `releases/26.09.001/manifests/all.json:1:37 error[feed-duplicate] "b.deb" is tool 1.0 amd64, and so is "a.deb" of 26.08.001 (id 1); the suite stable would list both`,
    );
  });

  test("are an error in one release too", async () => {
    const files = {
      ...catalog({ stable: {} }),
      ...release("26.08.001", [
        deb("a.deb", "1", "1.0", { max_os_version: "20.04" }),
        deb("b.deb", "2", "1.0", { min_os_version: "22.04" }),
      ]),
    };
    expect(await problemsOf(files)).toContain("error[feed-duplicate]");
  });

  test("may be in different suites", async () => {
    const files = {
      ...catalog({ focal: "20.04", jammy: "22.04" }),
      ...release("26.08.001", [
        deb("a.deb", "1", "1.0", { max_os_version: "20.04" }),
        deb("b.deb", "2", "1.0", { min_os_version: "22.04" }),
      ]),
    };
    expect(await problemsOf(files)).not.toContain("error");
  });

  test("are accepted when they are cut, or when one of them is withdrawn", async () => {
    const { write, succeed, run } = project(twice);
    write("releases/catalog.yaml", { product: "Example", require: {} });
    await succeed("cut", "--all", "--now", firstCut);
    write("releases/catalog.yaml", { product: "Example", require: {}, feeds: { apt: {} } });
    await succeed("check");
    // A third one is new.
    write("releases/26.09.002/release.yaml", { version: "26.09.002", date: "2026-09-25" });
    write("releases/26.09.002/manifests/all.json", {
      release: "26.09.002",
      artifacts: [deb("c.deb", "3", "1.0")],
    });
    expect((await run("check")).exitCode).toBe(1);
    await succeed("retract", "1", "--reason", "broken", "--yes");
    await succeed("retract", "2", "--reason", "broken", "--yes");
    await succeed("check");
  });
});

test("two rpms with one name, version, release and architecture are an error too", async () => {
  const rpm = (file: string, digit: string) => artifact(file, "rpm", digit, { size: 10, package: rpmOf() });
  const output = await problemsOf({
    "releases/catalog.yaml": { product: "Example", require: {}, feeds: { yum: {} } },
    ...release("26.08.001", [rpm("a.rpm", "1")]),
    ...release("26.09.001", [rpm("b.rpm", "2")]),
  });
  expect(output).toContain(
    `error[feed-duplicate] "b.rpm" is agent-0:26.8.2-1.x86_64, and so is "a.rpm" of 26.08.001 (id 1); the repository stable would list both`,
  );
});

test.each([
  ["Debian's number in a suite of Ubuntu", { jammy: "22.04" }, "12", "not a version of Ubuntu"],
  ["Ubuntu's number in a suite of Debian", { bookworm: "12" }, "22.04", "a version of Ubuntu"],
])("%s is an error unless the suite has match", async (_, suites, bound, system) => {
  const files = release("26.08.001", [deb("a_x.deb", "1", "1.0", { min_os_version: bound })]);
  const [[name = "", version]] = Object.entries(suites) as [[string, string]];
  const output = await problemsOf({ ...catalog(suites), ...files });
  expect(output).toContain(
    `error[suite-mixed] the suite ${name} takes debs whose OS versions include ${version}, but the bound ${bound} of "a_x.deb" in 26.08.001 is ${system}`,
  );
  expect(await problemsOf({ ...catalog({ [name]: { version, match: "*_y*" } }), ...files })).not.toContain(
    "error",
  );
});
