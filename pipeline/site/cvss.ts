/** Weights of the base metrics of CVSS 3; `changedPR` is for a changed scope. */
const weights: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  AV: { N: 0.85, A: 0.62, L: 0.55, P: 0.2 },
  AC: { L: 0.77, H: 0.44 },
  PR: { N: 0.85, L: 0.62, H: 0.27 },
  UI: { N: 0.85, R: 0.62 },
  S: { U: 0, C: 1 },
  C: { H: 0.56, L: 0.22, N: 0 },
  I: { H: 0.56, L: 0.22, N: 0 },
  A: { H: 0.56, L: 0.22, N: 0 },
};
const changedPR: Readonly<Record<string, number>> = { N: 0.85, L: 0.68, H: 0.5 };

/** Metrics that the base score does not depend on. */
const others =
  /^(?:E:[XUPFH]|RL:[XOTWU]|RC:[XURC]|[CIA]R:[XLMH]|MAV:[XNALP]|MAC:[XLH]|MPR:[XNLH]|MUI:[XNR]|MS:[XUC]|M[CIA]:[XNLH])$/;

const severityOf = (score: number): string =>
  score >= 9 ? "CRITICAL" : score >= 7 ? "HIGH" : score >= 4 ? "MEDIUM" : score > 0 ? "LOW" : "NONE";

/**
 * Member cvss_v3 of a score in CSAF.
 * @returns undefined for another version of CVSS, and if a metric is missing, repeated or unknown
 */
export function cvss3(vectorString: string) {
  const [, version, metrics = ""] = /^CVSS:(3\.[01])\/(.+)$/.exec(vectorString) ?? [];
  const list = metrics.split("/").map((metric) => metric.split(":"));
  const values = new Map(list.map(([name = "", value = ""]) => [name, value]));
  const weightOf = (name: string) => weights[name]?.[values.get(name) ?? ""];
  const isKnown = ([name = "", value = ""]: readonly string[]) =>
    weightOf(name) !== undefined || others.test(`${name}:${value}`);
  const isWhole = Object.keys(weights).every((name) => values.has(name)) && list.every(isKnown);
  if (version === undefined || values.size !== list.length || !isWhole) return undefined;
  const baseScore = scoreOf((name) => weightOf(name) ?? 0, changedPR[values.get("PR") ?? ""] ?? 0);
  return { baseScore, baseSeverity: severityOf(baseScore), vectorString, version };
}

/** Section 7.1 of the specification of CVSS 3.1. */
function scoreOf(weight: (name: string) => number, privileges: number): number {
  const isChanged = weight("S") === 1;
  const loss = 1 - (1 - weight("C")) * (1 - weight("I")) * (1 - weight("A"));
  const impact = isChanged ? 7.52 * (loss - 0.029) - 3.25 * (loss - 0.02) ** 15 : 6.42 * loss;
  if (impact <= 0) return 0;
  const exploitability =
    8.22 * weight("AV") * weight("AC") * (isChanged ? privileges : weight("PR")) * weight("UI");
  const score = Math.min((isChanged ? 1.08 : 1) * (impact + exploitability), 10);
  // Appendix A: rounded up to one decimal, without errors of floating point.
  return Math.ceil(Math.round(score * 100_000) / 10_000) / 10;
}
