import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  integerOf,
  octetsOf,
  oidOf,
  readAsn1,
  readPaddedAsn1,
  sequenceOf,
  timeOf,
} from "../../inspect/signatures/asn1.ts";
import { Fault } from "../../inspect/verdict.ts";
import { der, generalizedTime, integer, octets, oid, open, sequence } from "../support/der.ts";
import { often } from "../support/effort.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");

describe("invalid ASN.1 is refused:", () => {
  const nested = (depth: number) => Buffer.concat(Array.from({ length: depth }, () => hex("3080")));
  test.each([
    ["nothing", hex(""), "X is not ASN.1 at its byte 0"],
    ["a tag alone", hex("30"), "X is not ASN.1 at its byte 0"],
    ["a tag of several octets", hex("1f 02 00"), "X is not ASN.1 at its byte 0"],
    [
      "a value that reaches beyond the end",
      hex("04 05 01"),
      "X has 5 bytes at its byte 0, which reach beyond the end",
    ],
    [
      "an element that reaches beyond the one around it",
      hex("30 03 04 05 01 00 00 00"),
      /reach beyond the end/,
    ],
    [
      "a length that is not the shortest form",
      hex("04 81 01 ff"),
      "X has a length at its byte 1 that is longer than necessary",
    ],
    ["a length that begins with zero", hex("04 82 00 80"), /longer than necessary/],
    ["a length of five octets", hex("04 85 01 00 00 00 00"), "X has a length that cannot be at its byte 1"],
    ["a length whose octets are missing", hex("04 82 01"), "X has a length that cannot be at its byte 1"],
    ["a primitive value without an end", hex("04 80 00 00"), "X has a value without an end at its byte 0"],
    ["a list that has no end", hex("30 80 04 00"), "X has elements without an end"],
    ["deeply nested lists", nested(50_000), "X is nested deeper than 40 elements"],
    ["millions of elements", der(0x30, Buffer.alloc(1 << 22, "0500", "hex")), "X has over 1048576 elements"],
    ["bytes that follow", hex("05 00 00"), "bytes follow the end of X"],
  ])("%s", (_, bytes, message) => {
    expect(() => readAsn1(bytes, "X")).toThrow(message);
  });

  test("only zeros can follow a padded element", () => {
    expect(readPaddedAsn1(hex("05 00 00 00"), "X").raw).toEqual(Uint8Array.of(5, 0));
    expect(() => readPaddedAsn1(hex("05 00 00 01"), "X")).toThrow("bytes follow the end of X");
  });
});

describe("a value", () => {
  test.each([
    ["an object identifier without an end", () => oidOf(readAsn1(hex("06 02 2a 86"), "X"), "X")],
    ["an empty object identifier", () => oidOf(readAsn1(hex("06 00"), "X"), "X")],
    ["a negative number", () => integerOf(readAsn1(hex("02 01 ff"), "X"), "X")],
    ["a number of many bytes", () => integerOf(readAsn1(hex("02 07 01 00 00 00 00 00 00"), "X"), "X")],
    ["a list where a text is expected", () => octetsOf(readAsn1(hex("30 00"), "X"), "X")],
    ["a text in pieces that are lists", () => octetsOf(readAsn1(hex("24 02 30 00"), "X"), "X")],
    ["a time in another zone", () => timeOf(readAsn1(der(0x17, Buffer.from("240101000000+0100")), "X"), "X")],
    [
      "a long year in a short time",
      () => timeOf(readAsn1(der(0x17, Buffer.from("20240101000000Z")), "X"), "X"),
    ],
    ["a set where a list is expected", () => sequenceOf(readAsn1(hex("31 00"), "X"), "X")],
    ["nothing where a list is expected", () => sequenceOf(undefined, "X")],
  ])("as %s is refused", (_, read) => {
    expect(read).toThrow(Fault);
  });

  test.each(["1.2.840.113549.1.7.2", "2.16.840.1.101.3.4.2.1", "1.3.6.1.4.1.311.2.1.4", "0.9.2342"])(
    "as the object identifier %s is decoded",
    (dotted) => {
      expect(oidOf(readAsn1(oid(dotted), "X"), "X")).toBe(dotted);
    },
  );

  test("as a year of two digits is from 1950 to 2049", () => {
    const year = (digits: string) =>
      new Date(timeOf(readAsn1(der(0x17, Buffer.from(`${digits}0102030405Z`)), "X"), "X")).toISOString();
    expect(year("49")).toBe("2049-01-02T03:04:05.000Z");
    expect(year("50")).toBe("1950-01-02T03:04:05.000Z");
  });

  test("as a number or time is decoded", () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.date({ min: new Date("1950-01-01"), max: new Date("2099-12-31"), noInvalidDate: true }),
        (value, date) => {
          const seconds = Math.floor(date.getTime() / 1000) * 1000;
          expect(integerOf(readAsn1(integer(value), "X"), "X")).toBe(value);
          expect(timeOf(readAsn1(generalizedTime(seconds), "X"), "X")).toBe(seconds);
        },
      ),
    );
  });

  test("with an indefinite length or in pieces is equal to the short form", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(400), (bytes, at) => {
        const pieces = open(0x24, octets(bytes.subarray(0, at)), octets(bytes.subarray(at)));
        const [text] = sequenceOf(readAsn1(open(0x30, pieces), "X"), "X");
        expect(Buffer.from(octetsOf(text, "X"))).toEqual(Buffer.from(bytes));
        const [plain] = sequenceOf(readAsn1(sequence(octets(bytes)), "X"), "X");
        expect(Buffer.from(octetsOf(plain, "X"))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  test("any bytes are an element or refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          expect(readAsn1(bytes, "X").raw.length).toBe(bytes.length);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        }
      }),
      { numRuns: often(2000, 300) },
    );
  });
});
