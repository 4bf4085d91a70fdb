import { join } from "node:path";
import { expect, test } from "vitest";
import { type Project, project, release } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";

/** A project with two sites in folders, prod and trial; nothing there becomes permanent. */
function twoSites(): Project {
  const site = (name: string) => ({
    url: `dir:${join(temporaryFolder(), name)}`,
    base_url: `https://${name}.example.com`,
    settles: false,
  });
  const config = { product: "Example", require: {}, sites: { prod: site("prod"), trial: site("trial") } };
  return project({ ...release("26.09.001", []), "releases/catalog.yaml": config });
}

const at = ({ folder }: Project, site: string, ...args: string[]) =>
  relcat(folder, args, { env: { RELCAT_SITE: site } });

const address = async (made: Project, site: string, ...args: string[]) =>
  JSON.parse((await at(made, site, "build", "--json", ...args)).stdout).base_url;

test("RELCAT_SITE names the site of build, publish and history", async () => {
  const made = twoSites();
  expect(await address(made, "prod")).toBe("https://prod.example.com");
  await at(made, "prod", "publish");
  expect(await at(made, "prod", "history")).toMatchObject({ exitCode: 0 });
  expect((await at(made, "trial", "history")).stderr).toContain("nothing was published to trial yet");
});

test("another RELCAT_SITE makes another build, and --site overrides it", async () => {
  const made = twoSites();
  expect(await address(made, "prod")).toBe("https://prod.example.com");
  expect(await address(made, "trial")).toBe("https://trial.example.com");
  expect(await address(made, "prod", "--site", "trial")).toBe("https://trial.example.com");
});

test("an empty RELCAT_SITE names no site", async () => {
  const made = twoSites();
  expect(await address(made, "")).toBe("http://127.0.0.1:8080");
  expect(await at(made, "", "publish")).toMatchObject({
    exitCode: 2,
    stderr:
      "error[usage] the command line names no site in catalog.yaml, and there is more than one\n  hint: Name one: prod or trial",
  });
});

test("sign --live ignores the variable", async () => {
  const made = twoSites();
  const { stderr } = await at(made, "unheard-of", "sign", "--live", join(made.folder, "elsewhere"));
  expect(stderr).not.toContain("unheard-of");
  expect(stderr).not.toContain("Give one of them");
});
