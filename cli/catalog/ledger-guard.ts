import {
  findLedgerBase,
  isShallowInCi,
  type Ledger,
  type LedgerBase,
  loadConfiguration,
  lostLines,
  type Problem,
  shallowWarning,
  throwErrors,
  whyNotCompared,
} from "../../pipeline/index.ts";
import { type Host, say } from "../terminal/host.ts";
import { renderProblems } from "../terminal/render.ts";

/** Options of the commands that compare the ledger with git. */
export interface LedgerGuardOptions {
  /** false: do not compare. */
  base?: boolean | undefined;
}

/** Compares the ledger with the one that git has, and says where that cannot be done. */
export class LedgerGuard {
  readonly #host: Host;
  readonly #find: () => Promise<LedgerBase | undefined>;
  #base: Promise<LedgerBase | undefined> | undefined;

  /** @param name git revision to compare with; default: ledger.base of catalog.yaml */
  constructor({ base = true }: LedgerGuardOptions, host: Host, name?: string) {
    this.#host = host;
    this.#find = async () =>
      base ? findLedgerBase(host.releases, name ?? (await configuredBase(host))) : undefined;
  }

  /** Lines that were removed or changed. */
  async lostLines(ledger: Ledger): Promise<Problem[]> {
    // git is asked once for each command.
    this.#base ??= this.#find();
    const base = await this.#base;
    return base ? lostLines(ledger, base) : [];
  }

  /** @throws RelcatError ledger-rewritten where lines were removed or changed */
  readonly prove = async (ledger: Ledger): Promise<void> => throwErrors(await this.lostLines(ledger));

  /** What CI should mend, for the problems of `check`. */
  async warnings(): Promise<Problem[]> {
    const base = await this.#base;
    return base && isShallowInCi(base, this.#host.environment) ? [shallowWarning(base)] : [];
  }

  /** Says in one line why the ledger was not compared. @param ledger one without lines has nothing to lose */
  async sayUnproved(ledger?: Pick<Ledger, "events">, host = this.#host): Promise<void> {
    const base = await this.#base;
    const why = base && whyNotCompared(base);
    if (why === undefined || (await this.warnings()).length > 0) return;
    if ((ledger?.events.length ?? 0) > 0 || base?.found.kind !== "no-repository") say(host, why);
  }

  /** The warnings and the line. */
  async report(ledger?: Pick<Ledger, "events">, host = this.#host): Promise<void> {
    host.messages.write(renderProblems(await this.warnings(), host));
    await this.sayUnproved(ledger, host);
  }
}

const configuredBase = async ({ releases }: Host): Promise<string> =>
  (await loadConfiguration(releases, undefined)).ledgerBase;
