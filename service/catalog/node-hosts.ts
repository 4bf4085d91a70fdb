const mostKnown = 100;

/** Host headers that a web address can have: who sends another one learns from the router what is wrong. */
export class HonestHosts {
  readonly #known = new Set<string>();

  has(host: string | undefined): boolean {
    if (host === undefined) return false;
    if (this.#known.has(host)) return true;
    if (!URL.canParse(`http://${host}/`) || !/^[\w.-]+(:\d+)?$/.test(host)) return false;
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.add(host);
    return true;
  }
}
