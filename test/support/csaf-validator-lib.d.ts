type CsafTest = (document: unknown) => unknown;

interface CsafResult {
  tests: { name: string; errors: unknown[]; warnings: unknown[]; isValid: boolean }[];
}

declare module "@secvisogram/csaf-validator-lib/*Tests.js" {
  const tests: Record<string, CsafTest>;
  export = tests;
}
declare module "@secvisogram/csaf-validator-lib/validate.js" {
  const validate: (tests: readonly CsafTest[], document: unknown) => Promise<CsafResult>;
  export = validate;
}
