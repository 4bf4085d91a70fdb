import type { z } from "zod";
import type { Access } from "./access.ts";
import type { ProblemKind } from "./problems.ts";
import type { ControllerOperation } from "./routes.ts";
import type { AuditCode } from "./store/audit-log.ts";

/**
 * Input, access, limits and answers of an operation. Validation, enforcement and documentation all use this.
 */
export interface Contract {
  summary: string;
  description?: string;
  access: Access;
  /** One statement reads the credentials of a key and the device in the path. */
  withDevice?: true;
  /** The operation identifies the holder of a key itself, in its transaction. */
  identifies?: true;
  /** The rate limit that applies; `enrol` and `login` are counted per address. */
  rate: "api" | "login" | "enrol";
  /** Audit codes that the operation may record. */
  audit?: readonly AuditCode[];
  query?: z.ZodObject;
  /** optional: an empty body means `{}`. */
  body?: { schema: z.ZodType; example: object; optional?: true; bytes: number };
  /** also: second status, for something that existed already or is new. */
  success: {
    status: 200 | 201 | 204;
    also?: 200 | 201;
    description: string;
    schema?: z.ZodType;
    type?: string;
  };
  /** Problems in addition to those that all operations with this access share. */
  problems?: readonly ProblemKind[];
}

export type OperationContracts = Partial<Record<ControllerOperation, Contract>>;

/** Limits of request bodies, in bytes. */
export const smallBody = 16 * 1024;
export const largeBody = 1024 * 1024;

/** Problems of an operation that only needs the id in its path. */
export const idsOnly = ["not-found"] as const;
