import { failure } from "../../shared/errors.ts";
import { lease, type PublishStep, type PublishTurn } from "../documents/publish-turn.ts";
import { type HistoryEntry, type SiteState, timestampOf } from "../documents/site-state.ts";
import type { Kept, SiteStore, StoredState } from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import { noLedger } from "../ledger/ledger-mark.ts";
import type { LocalBuild } from "./local-build.ts";

/** Circumstances of a publish, in addition to the build. */
export interface PublishContext {
  /** "kept": the published ledger stays, because a restored build goes live. */
  ledger?: "kept";
  action: HistoryEntry["action"];
  /** New hold; undefined: unchanged. */
  hold?: SiteState["hold"];
  commit: string | null;
  /** Tag of the state by which the build was chosen; with another state, the choice may be wrong. */
  chosenBy?: string;
  /** Reason for publishing ledger lines that the base lacks. */
  unpushed?: string | undefined;
  /** Reason for publishing files that are not committed. */
  uncommitted?: string | undefined;
  /** True if the commit descends from the local one; false also if git cannot tell. */
  isOvertaken?: (commit: string) => Promise<boolean>;
}

interface TurnRequest {
  site: SiteSettings;
  store: SiteStore;
  local: LocalBuild;
  /** NAME@MACHINE, and an id that distinguishes runs. */
  publisher: { name: string; run: string };
  publishContext: PublishContext;
  releaseHold: boolean;
  /** Milliseconds since 1970. */
  now: () => number;
  onStep?: OnStep | undefined;
}

export type OnStep = (step: PublishStep) => void | Promise<void>;

/** A publisher's exclusive access to a site (a lease), from acquiring it to releasing it. */
export class Turn implements PublishTurn {
  readonly #request: TurnRequest;
  #state: SiteState;
  #tag: string;
  #renewed: number;
  #renewing: Promise<void> | undefined;

  /** Continues a finished turn, for steps that were left to do. */
  constructor(request: TurnRequest, { state, tag }: StoredState) {
    this.#request = request;
    this.#state = state;
    this.#tag = tag;
    this.#renewed = request.now();
  }

  /** @throws RelcatError site-taken */
  static async begin(request: TurnRequest, stored: StoredState | undefined): Promise<Turn> {
    const { site, store, local, publisher, publishContext } = request;
    const before = stored?.state;
    const now = request.now();
    const state: SiteState = {
      schema_version: 1,
      build: local.id,
      signed: local.signed,
      previous: before?.history[0]?.build ?? null,
      state: "publishing",
      action: publishContext.action,
      publisher: publisher.name,
      run: publisher.run,
      lease_until: timestampOf(now + lease),
      at: timestampOf(now),
      commit: local.document.at ?? publishContext.commit,
      ledger: before?.ledger ?? noLedger,
      ledger_high: before?.ledger_high ?? noLedger,
      hold: publishContext.hold ?? before?.hold ?? null,
      pending: before?.pending ?? null,
      history: before?.history ?? [],
    };
    const tag = await store.writeState(state, stored?.tag);
    if (tag === "changed") throw leaseLost(site);
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
    if (tag !== this.#tag) throw leaseLost(this.#request.site);
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

  /** As `unlessTaken`, for a part of the turn. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const { site, store } = this.#request;
    return unlessTaken(site, store, ({ state }) => state.run === this.run, work);
  }

  /** Records the publish as live. @param ledger undefined: the published ledger is unchanged */
  async finish(ledger: SiteState["ledger"] | undefined, kept: Kept, announce: string[]): Promise<void> {
    const { site, publishContext, releaseHold } = this.#request;
    const { build, publisher, commit, history, pending } = this.#state;
    const at = timestampOf(this.#request.now());
    const isSame = history[0]?.build === build && publishContext.action !== "rollback";
    const action = isSame ? "refresh" : publishContext.action;
    const entry = {
      build: build ?? "",
      ...kept,
      at,
      publisher,
      commit,
      action,
      ...(publishContext.hold && { reason: publishContext.hold.reason }),
      ...(publishContext.unpushed !== undefined && { unpushed: publishContext.unpushed }),
      ...(publishContext.uncommitted !== undefined && { uncommitted: publishContext.uncommitted }),
    } as const;
    // Renewals happen for years and must not push builds for rollback out of the history.
    const earlier = isSame && history[0]?.action === "refresh" ? history.slice(1) : history;
    const needsPurge = site.purge !== undefined;
    const announced = [...new Set([...(pending?.announce ?? []), ...announce])].sort();
    const hasHooks = needsPurge || (site.afterPublish !== undefined && announced.length > 0);
    await this.write({
      ...this.#state,
      state: "done",
      at,
      ...(ledger && { ledger, ...(site.settles && { ledger_high: ledger }) }),
      hold: releaseHold ? null : this.#state.hold,
      pending: hasHooks ? { purge: needsPurge, announce: site.afterPublish ? announced : [] } : null,
      history: newest([entry, ...earlier], site.keep.builds),
    });
  }

  /** Replaces the state if it is still ours. @throws RelcatError site-taken */
  async write(state: SiteState): Promise<void> {
    const tag = await this.#request.store.writeState(state, this.#tag);
    if (tag === "changed") throw leaseLost(this.#request.site);
    this.#tag = tag;
    this.#state = state;
    this.#renewed = this.#request.now();
  }
}

/** Limits the history; a build with renewed signatures counts once. */
function newest(history: readonly HistoryEntry[], builds: number): HistoryEntry[] {
  const starts = history.flatMap((entry, index) =>
    entry.build === history[index - 1]?.build ? [] : [index],
  );
  return history.slice(0, starts[builds] ?? history.length);
}

/**
 * If `work` fails and the state is not ours any longer, the takeover is reported as the cause.
 * @param isOurs whether the state is still the one that `work` assumes
 * @throws RelcatError site-taken, and whatever `work` throws
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
    // If the site cannot be read, the first error is reported.
    const stored = await store.readState().catch(() => undefined);
    throw stored && !isOurs(stored) ? leaseLost(site, error) : error;
  }
}

export const leaseLost = (site: SiteSettings, cause?: unknown) =>
  failure(
    "site-taken",
    `another publisher has taken ${site.name} over`,
    "Run the command again when that publisher is done.",
    undefined,
    cause,
  );
