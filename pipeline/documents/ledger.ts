import { z } from "zod";
import {
  channelName,
  checksum,
  expects,
  id,
  line,
  name,
  object,
  osVersion,
  packageType,
  sha256,
  timestamp,
  version,
} from "../../shared/fields.ts";

/** Assigns a permanent id to an artifact. Its identity is (version, file); other members are informative. */
export const addSchema = object({
  event: z.literal("add"),
  id,
  version,
  package_type: packageType,
  name,
  file: name,
  min_os_version: osVersion.nullable(),
  max_os_version: osVersion.nullable(),
  checksum,
  content: sha256.describe("SHA-256 of the record's wire JSON without id and dates."),
  at: timestamp,
  private: z.literal(true).optional().describe("The record is hidden from everything public."),
  imported: z.literal(true).optional().describe("Id and date come from an imported catalog."),
});

/** Records a metadata change; the bytes never change. */
export const reviseSchema = object({
  event: z.literal("revise"),
  id,
  content: sha256,
  at: timestamp,
  private: z.literal(true).optional(),
  imported: z.literal(true).optional(),
});

const retractSchema = object({
  event: z.literal("retract"),
  id,
  reason: line,
  replaced_by: id.nullable(),
  at: timestamp,
});

const reinstateSchema = object({ event: z.literal("reinstate"), id, at: timestamp });

/** Later ids start at next_id; lower ids belong to records that the public list does not show. */
const reserveSchema = object({ event: z.literal("reserve"), next_id: id, at: timestamp });

const inChannel = { channel: channelName, version };

/** Offers a cut release in a channel, for ever or until it is halted. */
const promoteSchema = object({ event: z.literal("promote"), ...inChannel, at: timestamp });

const haltSchema = object({ event: z.literal("halt"), ...inChannel, reason: line, at: timestamp });

const resumeSchema = object({ event: z.literal("resume"), ...inChannel, at: timestamp });

/** One line of releases/ledger.jsonl; key order determines the bytes. */
export const ledgerEventSchema = z
  .discriminatedUnion(
    "event",
    [
      addSchema,
      reviseSchema,
      retractSchema,
      reinstateSchema,
      reserveSchema,
      promoteSchema,
      haltSchema,
      resumeSchema,
    ],
    expects("option-value", "add, revise, retract, reinstate, reserve, promote, halt or resume"),
  )
  .meta({ title: "Ledger event" });

export type AddEvent = z.infer<typeof addSchema>;
export type ReviseEvent = z.infer<typeof reviseSchema>;
export type RetractEvent = z.infer<typeof retractSchema>;
export type ReinstateEvent = z.infer<typeof reinstateSchema>;
export type LedgerEvent = z.infer<typeof ledgerEventSchema>;
export type ChannelEvent = Extract<LedgerEvent, { channel: string }>;
