import { expect, test } from "vitest";
import { reasonOf } from "../../cli/terminal/option-values.ts";
import { UsageError } from "../../cli/terminal/usage.ts";

const hint = "Say why.";
const refusal = (text: string) => {
  try {
    return reasonOf(text, hint);
  } catch (error) {
    return error instanceof UsageError ? error.problem : error;
  }
};

test.each([
  ["Does not start.", "Does not start."],
  ["  blank pages ", "blank pages"],
  ["שגיאה 26.08", "שגיאה 26.08"],
  ["نمی‌شود", "نمی‌شود"],
  ["👩‍🔧 broke it", "👩‍🔧 broke it"],
])("accepts %j", (text, reason) => {
  expect(refusal(text)).toBe(reason);
});

test.each(["", " ", "a\nb", "a\u0085b", "a\u2028b", "a\u2029b", "\u001b[31m", "\u009b31m"])(
  "refuses %j, which is not one line of text",
  (text) => {
    const message = "the reason is empty or has line breaks";
    expect(refusal(text)).toEqual({ code: "usage", severity: "error", message, hint });
  },
);

test.each([
  "061C",
  "200E",
  "200F",
  "202A",
  "202B",
  "202C",
  "202D",
  "202E",
  "2066",
  "2067",
  "2068",
  "2069",
  "D800",
])("refuses U+%s, which reorders the text around it or is half of a character", (code) => {
  const text = `good ${String.fromCharCode(Number.parseInt(code, 16))} bad`;
  const message = `the reason has U+${code}, which is invisible`;
  expect(refusal(text)).toEqual({ code: "usage", severity: "error", message, hint });
});
