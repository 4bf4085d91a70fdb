import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The files that take longest. One of them that begins last would run alone while the other processes have ended. */
const longest = [
  "test/slow/first-use.test.ts",
  "test/slow/package.test.ts",
  "test/slow/feeds-race.test.ts",
  "test/slow/interrupted.test.ts",
  "test/slow/inspect-large.test.ts",
  "test/slow/clients.test.ts",
  "test/slow/controller-page.test.ts",
  "test/slow/publish-killed.test.ts",
  "test/slow/browser.test.ts",
  "test/slow/publish-gateway.test.ts",
  "test/slow/browser-axe.test.ts",
  "test/slow/feeds-yum.test.ts",
  "test/slow/channels.test.ts",
  "test/slow/feeds-apt-root.test.ts",
  "test/verify/sweep.test.ts",
  "test/docs/runbooks.test.ts",
  "test/docs/ci.test.ts",
  "test/docs/ci-publish.test.ts",
  "test/project/depth-and-size.test.ts",
  "test/docs/publishing.test.ts",
  "test/docs/readme.test.ts",
  "test/cli/release-preflight.test.ts",
  "test/publish/bucket-again.test.ts",
];

/** Begins with the longest files, then runs the others in vitest's own order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => this.#rank(a) - this.#rank(b));
  }

  #rank({ moduleId }: TestSpecification): number {
    const index = longest.indexOf(relative(this.ctx.config.root, moduleId));
    return index === -1 ? longest.length : index;
  }
}
