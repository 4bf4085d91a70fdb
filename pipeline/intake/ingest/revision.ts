import { failure } from "../../../shared/errors.ts";
import { display } from "../../project/display.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The stated source revision: a full commit id, `ci` for the commit of the CI job, `git` for the checked-out
 * commit. Never guessed, because the CI commit of a pull request is a temporary merge.
 * @throws RelcatError usage, revision-unsure
 */
export async function statedRevision(
  stated: string,
  environment: Environment,
  checkedOut: () => Promise<string>,
): Promise<string> {
  if (stated === "ci") return ofCi(environment);
  const revision = stated === "git" ? await checkedOut() : stated;
  if (/^[0-9a-f]{40}$/.test(revision)) return revision;
  const message = `--rev ${display(stated)} is not 40 lowercase hexadecimal characters, ci or git`;
  throw failure("usage", message, "Give the whole commit id, as git rev-parse HEAD prints it.");
}

function ofCi(environment: Environment): string {
  const {
    GITHUB_SHA,
    CI_COMMIT_SHA,
    GITHUB_EVENT_NAME: event = "",
    CI_PIPELINE_SOURCE: source = "",
  } = environment;
  const request =
    event.startsWith("pull_request") ||
    /^(merge_request_event|external_pull_request_event)$/.test(source) ||
    [environment.CI_MERGE_REQUEST_ID, environment.CI_EXTERNAL_PULL_REQUEST_IID].some(Boolean);
  if (request) {
    const message = "--rev ci in a pull or merge request: its commit is not on any branch that is released";
    throw failure(
      "revision-unsure",
      message,
      "Ingest in a job that runs on the branch or tag; or state the revision with --rev SHA.",
    );
  }
  const found = new Set([GITHUB_SHA, CI_COMMIT_SHA].filter((sha) => sha !== undefined && sha !== ""));
  const [revision] = found;
  if (found.size === 1 && revision !== undefined && /^[0-9a-f]{40}$/.test(revision)) return revision;
  const seen =
    found.size === 0
      ? "neither GITHUB_SHA nor CI_COMMIT_SHA is set"
      : `GITHUB_SHA, CI_COMMIT_SHA: ${[...found].join(", ")}`;
  throw failure(
    "revision-unsure",
    `--rev ci finds no commit: ${seen}`,
    "State the revision with --rev SHA, or --rev git.",
  );
}
