import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cut, loadCatalog, readLedgerNow, type Surroundings } from "../../../pipeline/index.ts";
import { identity } from "../../../pipeline/ledger/ledger-records.ts";
import { temporaryFolder } from "../../support/run.ts";

export interface Draft {
  file: string;
  package_type: string;
  gui_only: boolean;
  description: string;
}

/** A releases folder with random changes; artifacts are in manifests in any order. */
export class Workshop {
  readonly folder = join(temporaryFolder(), "releases");
  readonly drafts = new Map<string, Map<string, Draft>>();
  private clock = Date.UTC(2026, 0, 1);

  surroundings(): Surroundings {
    this.clock += 1000;
    return { clock: this.clock, pid: process.pid, onWait: () => {} };
  }

  add(version: string, draft: Draft): void {
    const release = this.drafts.get(version) ?? new Map<string, Draft>();
    this.drafts.set(version, release);
    if (!release.has(draft.file)) release.set(draft.file, draft);
  }

  /** Writes the release files again: `order` decides which manifests have which artifact, and how often. */
  write(order: readonly number[]): void {
    for (const [version, release] of this.drafts) {
      const folder = join(this.folder, version);
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(join(folder, "manifests"), { recursive: true });
      writeFileSync(
        join(folder, "release.yaml"),
        `version: ${version}\ndate: 20${version.slice(0, 5).replace(".", "-")}-15\n`,
      );
      const artifacts = [...release.values()].map(({ file, ...rest }) => ({
        name: file,
        file,
        ...rest,
        sha256: checksum(version, file),
      }));
      const manifests = new Map<number, unknown[]>();
      for (const [index, artifact] of artifacts.entries()) {
        const turn = order[index % order.length] ?? 0;
        for (const place of turn % 5 === 0 ? [turn % 3, (turn + 1) % 3] : [turn % 3]) {
          const list = manifests.get(place) ?? [];
          manifests.set(place, turn % 2 ? [artifact, ...list] : [...list, artifact]);
        }
      }
      for (const [place, list] of manifests) {
        writeFileSync(
          join(folder, `manifests/${place}.json`),
          JSON.stringify({ release: version, artifacts: list }),
        );
      }
    }
  }

  /** id by version/file, as a build would show them now. */
  async shownIds(selection = {}): Promise<Map<string, number>> {
    const { identified, problems } = await loadCatalog(this.folder, selection);
    const errors = problems.filter((problem) => problem.severity === "error");
    if (errors.length > 0) throw new Error(JSON.stringify(errors));
    return new Map(
      identified.releases.flatMap(({ release, packages }) =>
        packages.map(({ id, artifact }) => [`${release.version}/${artifact.file}`, id] as const),
      ),
    );
  }

  permanentIds(): Map<string, number> {
    const entries = readLedgerNow(this.folder).byId.values();
    return new Map(entries.map(({ add }) => [identity(add.version, add.file), add.id]));
  }

  async cut(versions?: string[]): Promise<void> {
    await cut(this.folder, { versions, allowIncomplete: true, allowRevise: 1000 }, this.surroundings());
  }
}

function checksum(version: string, file: string): string {
  return Buffer.from(`${version}/${file}`).toString("hex").padEnd(64, "0").slice(0, 64);
}
