import type { z } from "zod";
import type { Access } from "./access.ts";
import type { ProblemKind } from "./call.ts";
import type { ControllerOperation } from "./routes.ts";
import type { AuditCode } from "./store/audit-codes.ts";

/** Input, access, limits and answers of an operation. Validation, enforcement and documentation all use this. */
export interface Contract {
  summary: string;
  description?: string;
  access: Access;
  /** One statement reads the credentials of a key and the device in the path. */
  withDevice?: true;
  /** The operation identifies the holder of a key itself, in its transaction. */
  identifies?: true;
  /** The limit of requests without credentials, counted per address. */
  rate?: "login" | "enrol";
  audit?: readonly AuditCode[];
  query?: z.ZodObject;
  /**
   * A strict schema, so that a misspelt member is an error. Where clients existed before this server (z.object),
   * unknown members are ignored and listed in X-Ignored-Fields.
   * optional: an empty body means `{}`. bytes: limit; 16 KiB by default.
   */
  body?: { schema: z.ZodType; example: object; optional?: true; bytes?: number };
  /** status: 200 by default; also: second status, for something that existed already or is new. */
  success: {
    status?: 200 | 201 | 204;
    also?: 200 | 201;
    description: string;
    schema?: z.ZodType;
    type?: string;
  };
  /** Problems in addition to those that all operations with this access share. */
  problems?: readonly ProblemKind[];
}

export type OperationContracts = Partial<Record<ControllerOperation, Contract>>;

/** Limit in bytes of a body that lists many devices. */
export const largeBody = 1024 * 1024;
