import { lease, type PublishStep, type PublishTurn } from "../documents/publish-turn.ts";
import { type HistoryEntry, type SiteState, timestampOf } from "../documents/site-state.ts";
import type { Kept, SiteStore, StoredState } from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { failure } from "../errors.ts";
import { noLedger } from "../ledger/ledger-mark.ts";
import type { LocalBuild } from "./local-build.ts";

/** What a publish goes by, besides the build. */
export interface Occasion {
  /** "kept": the ledger here has nothing to do with what goes live. */
  ledger?: "kept";
  action: HistoryEntry["action"];
  /** To set; undefined: as it is. */
  hold?: SiteState["hold"];
  commit: string | null;
  /** Tag of the state that the build was chosen by: another state would need another choice. */
  chosenBy?: string;
  /** Why ledger lines are published that the base does not have. */
  unpushed?: string | undefined;
  /** Whether a commit grew from the one here; false too where nobody can say. */
  isOvertaken?: (commit: string) => Promise<boolean>;
}

export interface TurnRequest {
  site: SiteSettings;
  store: SiteStore;
  local: LocalBuild;
  /** NAME@MACHINE, and what tells two runs apart. */
  publisher: { name: string; run: string };
  occasion: Occasion;
  releaseHold: boolean;
  /** Milliseconds since 1970. */
  now: () => number;
  onStep?: OnStep | undefined;
}

/** Called before each step of a publisher. */
export type OnStep = (step: PublishStep) => void | Promise<void>;

/** The time from taking a site over to giving it back. */
export class Turn implements PublishTurn {
  readonly #request: TurnRequest;
  #state: SiteState;
  #tag: string;
  #renewed: number;
  #renewing: Promise<void> | undefined;

  /** The turn that ended with a state: what was left to do after it can still be done. */
  constructor(request: TurnRequest, { state, tag }: StoredState) {
    this.#request = request;
    this.#state = state;
    this.#tag = tag;
    this.#renewed = request.now();
  }

  /** @throws RelcatError site-taken */
  static async begin(request: TurnRequest, stored: StoredState | undefined): Promise<Turn> {
    const { site, store, local, publisher, occasion } = request;
    const before = stored?.state;
    const now = request.now();
    const state: SiteState = {
      schema_version: 1,
      build: local.id,
      signed: local.signed,
      previous: before?.history[0]?.build ?? null,
      state: "publishing",
      action: occasion.action,
      publisher: publisher.name,
      run: publisher.run,
      lease_until: timestampOf(now + lease),
      at: timestampOf(now),
      commit: local.document.at ?? occasion.commit,
      ledger: before?.ledger ?? noLedger,
      ledger_high: before?.ledger_high ?? noLedger,
      hold: occasion.hold ?? before?.hold ?? null,
      pending: before?.pending ?? null,
      history: before?.history ?? [],
    };
    const tag = await store.writeState(state, stored?.tag);
    if (tag === "changed") throw taken(site);
    return new Turn(request, { state, tag });
  }

  get run(): string {
    return this.#state.run;
  }

  get state(): SiteState {
    return this.#state;
  }

  async step(name: PublishStep): Promise<void> {
    await this.#request.onStep?.(name);
  }

  requireOurs(tag: string | undefined): void {
    if (tag !== this.#tag) throw taken(this.#request.site);
  }

  async renew(when?: "now"): Promise<void> {
    if (this.#renewing) await this.#renewing;
    if (when !== "now" && this.#request.now() - this.#renewed < lease / 4) return;
    const lease_until = timestampOf(this.#request.now() + lease);
    this.#renewing = this.write({ ...this.#state, lease_until }).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  /**
   * Runs a part of the turn. After a takeover its files may be gone or changed: then that is why it fails.
   * @throws RelcatError site-taken, and what `work` throws
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const { site, store } = this.#request;
    return unlessTaken(site, store, ({ state }) => state.run === this.run, work);
  }

  /** What was published is live. @param ledger undefined: what was published of it is as before */
  async finish(ledger: SiteState["ledger"] | undefined, kept: Kept, announce: string[]): Promise<void> {
    const { site, occasion, releaseHold } = this.#request;
    const { build, publisher, commit, history, pending } = this.#state;
    const at = timestampOf(this.#request.now());
    const isSame = history[0]?.build === build && occasion.action !== "rollback";
    const action = isSame ? "refresh" : occasion.action;
    const entry = {
      build: build ?? "",
      ...kept,
      at,
      publisher,
      commit,
      action,
      ...(occasion.unpushed !== undefined && { unpushed: occasion.unpushed }),
    } as const;
    // Signatures are renewed for years: they must not push out the builds that one can go back to.
    const earlier = isSame && history[0]?.action === "refresh" ? history.slice(1) : history;
    const needsPurge = site.purge !== undefined;
    const news = [...new Set([...(pending?.announce ?? []), ...announce])].sort();
    const hasHooks = needsPurge || (site.afterPublish !== undefined && news.length > 0);
    await this.write({
      ...this.#state,
      state: "done",
      at,
      ...(ledger && { ledger, ...(site.settles && { ledger_high: ledger }) }),
      hold: releaseHold ? null : this.#state.hold,
      pending: hasHooks ? { purge: needsPurge, announce: site.afterPublish ? news : [] } : null,
      history: newest([entry, ...earlier], site.keep.builds),
    });
  }

  /** Replaces the state as this publisher left it. @throws RelcatError site-taken */
  async write(state: SiteState): Promise<void> {
    const tag = await this.#request.store.writeState(state, this.#tag);
    if (tag === "changed") throw taken(this.#request.site);
    this.#tag = tag;
    this.#state = state;
    this.#renewed = this.#request.now();
  }
}

/** As many builds as are kept; one whose signatures were renewed counts once. */
function newest(history: readonly HistoryEntry[], builds: number): HistoryEntry[] {
  const starts = history.flatMap((entry, index) =>
    entry.build === history[index - 1]?.build ? [] : [index],
  );
  return history.slice(0, starts[builds] ?? history.length);
}

/**
 * Runs `work`. If it fails and the site was taken over meanwhile, the takeover is the reason that is reported.
 * @param isOurs whether the state is still the one that `work` goes by
 * @throws RelcatError site-taken, and what `work` throws
 */
export async function unlessTaken<T>(
  site: SiteSettings,
  store: SiteStore,
  isOurs: (stored: StoredState) => boolean,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // A site that cannot be read says nothing about a takeover: then the first failure is reported.
    const stored = await store.readState().catch(() => undefined);
    throw stored && !isOurs(stored) ? taken(site, error) : error;
  }
}

export const taken = (site: SiteSettings, cause?: unknown) =>
  failure(
    "site-taken",
    `another publisher has taken ${site.name} over`,
    "Run the command again when that publisher is done.",
    undefined,
    cause,
  );
