/**
 * Expands templates to the versions a package may carry.
 * @param version YY.MM.NNN
 * @param templates with {YY}, {M}, {MM}, {N} and {NNN}
 */
export function versionsInside(version: string, templates: readonly string[]): string[] {
  const [YY = "", MM = "", NNN = ""] = version.split(".");
  const values: Readonly<Record<string, string>> = {
    YY,
    MM,
    NNN,
    M: String(Number(MM)),
    N: String(Number(NNN)),
  };
  const filled = templates.map((template) =>
    template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? ""),
  );
  return [...new Set(filled)];
}
