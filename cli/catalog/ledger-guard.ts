import {
  type Catalog,
  type ChangedMetadata,
  changedMetadata as changedSince,
  findLedgerBase,
  isShallowInCi,
  type Ledger,
  type LedgerBase,
  loadSettings,
  lostLines as lostLinesSince,
  type Problem,
  settledMetadata,
  shallowWarning,
  throwErrors,
  unmergedMetadata as unmergedSince,
  whyNotCompared,
} from "../../pipeline/index.ts";
import { type Host, say } from "../terminal/host.ts";
import { renderProblems } from "../terminal/render.ts";

export interface LedgerGuardOptions {
  /** false: skip the comparison. */
  base?: boolean | undefined;
  /** Git revision to compare with; default: ledger.base of catalog.yaml. */
  revision?: string | undefined;
}

export type LedgerGuard = ReturnType<typeof ledgerGuard>;

/** Compares the ledger with git's copy, or reports why that is impossible. */
export function ledgerGuard({ base: isCompared = true, revision }: LedgerGuardOptions, host: Host) {
  const { releases } = host;
  /** Kept, so that git is called once per command. */
  let found: Promise<LedgerBase | undefined> | undefined;

  async function find(ledgerBase?: string): Promise<LedgerBase | undefined> {
    if (!isCompared) return undefined;
    const named = revision ?? ledgerBase ?? (await loadSettings(releases, undefined)).ledgerBase;
    return findLedgerBase(releases, named);
  }

  function baseOf(ledgerBase?: string): Promise<LedgerBase | undefined> {
    found ??= find(ledgerBase);
    return found;
  }

  /** Problems for removed or changed lines. @param ledgerBase of a configuration that is read already */
  async function lostLines(ledger: Ledger, ledgerBase?: string): Promise<Problem[]> {
    const base = await baseOf(ledgerBase);
    return base ? lostLinesSince(ledger, base) : [];
  }

  /** Cut artifacts whose settled metadata was changed or removed. */
  async function changedMetadata(catalog: Catalog): Promise<ChangedMetadata[]> {
    const base = await baseOf();
    return base ? changedSince(catalog.releases, await settledMetadata(catalog.folder, base)) : [];
  }

  async function unmergedMetadata(): Promise<Problem[]> {
    const base = await baseOf();
    return base ? unmergedSince(releases, base) : [];
  }

  /** @throws RelcatError ledger-rewritten if lines were removed or changed */
  const prove = async (ledger: Ledger): Promise<void> => throwErrors(await lostLines(ledger));

  /**
   * For commands that release something: what they make permanent must agree with what is settled.
   * @throws RelcatError ledger-rewritten, metadata-changed
   */
  const proveRelease = async (ledger: Ledger, ledgerBase?: string): Promise<void> =>
    throwErrors([...(await lostLines(ledger, ledgerBase)), ...(await unmergedMetadata())]);

  /**
   * Problems of the CI setup, or the reason why the ledger was not compared, in one line.
   * @param ledger if it is empty, a missing comparison does no harm and is not reported
   */
  async function findings(
    ledger?: Pick<Ledger, "events">,
  ): Promise<{ warnings: Problem[]; unproved: string | undefined }> {
    const base = await found;
    if (base && isShallowInCi(base, host.environment))
      return { warnings: [shallowWarning(base)], unproved: undefined };
    const isHarmless = isNew(base) && !ledger?.events.length;
    return { warnings: [], unproved: base && !isHarmless ? whyNotCompared(base) : undefined };
  }

  async function report(ledger?: Pick<Ledger, "events">): Promise<void> {
    const { warnings, unproved } = await findings(ledger);
    host.messages.write(renderProblems(warnings, host));
    if (unproved !== undefined) say(host, unproved);
  }

  return { lostLines, changedMetadata, unmergedMetadata, prove, proveRelease, findings, report };
}

/** A new project that has not been pushed anywhere. */
const isNew = (base: LedgerBase | undefined): boolean =>
  base !== undefined && ["no-repository", "no-commit", "no-remote"].includes(base.found.kind);
