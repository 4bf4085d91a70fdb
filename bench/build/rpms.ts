import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";

const batchSize = 250;

/**
 * As many tiny rpms as there are artifacts; those of an earlier run are taken.
 * @returns their folder
 */
export async function makeRpms(work: string, count: number): Promise<string> {
  const folder = join(work, `rpms-${count}`);
  const made = join(work, `rpms-${count}.made`);
  if (existsSync(made)) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (let first = 0; first < count; first += batchSize) {
    await rpmbuild(work, folder, first, Math.min(batchSize, count - first));
  }
  writeFileSync(made, "");
  return folder;
}

async function rpmbuild(work: string, folder: string, first: number, count: number): Promise<void> {
  const spec = join(work, "tiny.spec");
  writeFileSync(spec, specOf(first, count));
  const defined = { _topdir: join(work, "rpmbuild"), _rpmdir: folder, _build_id_links: "none" };
  const defines = Object.entries(defined).flatMap(([name, value]) => ["--define", `${name} ${value}`]);
  await execa("rpmbuild", ["-bb", "--quiet", ...defines, spec], { timeout: 120_000 });
}

/** One build of many packages takes hardly longer than that of one. */
function specOf(first: number, count: number): string {
  const head =
    "Name: northgate\nVersion: 1\nRelease: 1\nSummary: Northgate\nLicense: ASL 2.0\nBuildArch: noarch\n%description\n";
  const packages = Array.from({ length: count }, (_, index) => {
    const name = `northgate-${first + index}`;
    return `%package -n ${name}\nSummary: ${name}\n%description -n ${name}\nOne of many.\n%files -n ${name}\n`;
  });
  return head + packages.join("");
}
