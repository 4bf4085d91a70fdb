import {
  type Catalog,
  type ChangedMetadata,
  changedMetadata,
  findLedgerBase,
  isShallowInCi,
  type Ledger,
  type LedgerBase,
  loadSettings,
  lostLines,
  type Problem,
  settledMetadata,
  shallowWarning,
  throwErrors,
  unmergedMetadata,
  whyNotCompared,
} from "../../pipeline/index.ts";
import { type Host, say } from "../terminal/host.ts";
import { renderProblems } from "../terminal/render.ts";

/** Options of commands that compare the ledger with git. */
export interface LedgerGuardOptions {
  /** false: skip the comparison. */
  base?: boolean | undefined;
  /** Git revision to compare with; default: ledger.base of catalog.yaml. */
  revision?: string | undefined;
}

/** Compares the ledger with git's copy, or reports why that is impossible. */
export class LedgerGuard {
  readonly #host: Host;
  readonly #options: LedgerGuardOptions;
  #base: Promise<LedgerBase | undefined> | undefined;

  constructor(options: LedgerGuardOptions, host: Host) {
    this.#host = host;
    this.#options = options;
  }

  /** Problems for removed or changed lines. @param ledgerBase of a configuration that is read already */
  async lostLines(ledger: Ledger, ledgerBase?: string): Promise<Problem[]> {
    const base = await this.#found(ledgerBase);
    return base ? lostLines(ledger, base) : [];
  }

  /** Cut artifacts whose settled metadata was changed or removed. */
  async changedMetadata(catalog: Catalog): Promise<ChangedMetadata[]> {
    const base = await this.#found();
    return base ? changedMetadata(catalog.releases, await settledMetadata(catalog.folder, base)) : [];
  }

  /** Cached, so that git is called once per command. */
  #found(ledgerBase?: string): Promise<LedgerBase | undefined> {
    this.#base ??= this.#find(ledgerBase);
    return this.#base;
  }

  async #find(ledgerBase?: string): Promise<LedgerBase | undefined> {
    const { base = true, revision = ledgerBase } = this.#options;
    const { releases } = this.#host;
    if (!base) return undefined;
    return findLedgerBase(releases, revision ?? (await loadSettings(releases, undefined)).ledgerBase);
  }

  /** @throws RelcatError ledger-rewritten if lines were removed or changed */
  readonly prove = async (ledger: Ledger): Promise<void> => throwErrors(await this.lostLines(ledger));

  /**
   * For commands that release something: what they make permanent must agree with what is settled.
   * @throws RelcatError ledger-rewritten, metadata-changed
   */
  readonly proveRelease = async (ledger: Ledger, ledgerBase?: string): Promise<void> =>
    throwErrors([...(await this.lostLines(ledger, ledgerBase)), ...(await this.unmergedMetadata())]);

  async unmergedMetadata(): Promise<Problem[]> {
    const base = await this.#found();
    return base ? unmergedMetadata(this.#host.releases, base) : [];
  }

  /** Problems of the CI setup that only `check` reports. */
  async warnings(): Promise<Problem[]> {
    const base = await this.#base;
    return base && isShallowInCi(base, this.#host.environment) ? [shallowWarning(base)] : [];
  }

  /**
   * Reason why the ledger was not compared, in one line.
   * @param ledger if it is empty, a missing comparison does no harm and is not reported
   */
  async #unproved(ledger?: Pick<Ledger, "events">): Promise<string | undefined> {
    const base = await this.#base;
    const why = base && whyNotCompared(base);
    if (why === undefined || (await this.warnings()).length > 0) return undefined;
    return (ledger?.events.length ?? 0) > 0 || !isNew(base) ? why : undefined;
  }

  /** The results of `warnings` and `sayUnproved` as data. */
  async findings(
    ledger?: Pick<Ledger, "events">,
  ): Promise<{ warnings: Problem[]; unproved: string | undefined }> {
    return { warnings: await this.warnings(), unproved: await this.#unproved(ledger) };
  }

  async sayUnproved(ledger?: Pick<Ledger, "events">): Promise<void> {
    const why = await this.#unproved(ledger);
    if (why !== undefined) say(this.#host, why);
  }

  async report(ledger?: Pick<Ledger, "events">): Promise<void> {
    this.#host.messages.write(renderProblems(await this.warnings(), this.#host));
    await this.sayUnproved(ledger);
  }
}

/** A new project that has not been pushed anywhere. */
const isNew = (base: LedgerBase | undefined): boolean =>
  base !== undefined && ["no-repository", "no-commit", "no-remote"].includes(base.found.kind);
