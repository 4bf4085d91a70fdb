/** Names of events. Their codes are stable, because scripts compare them. */
export const eventNames = {
  "device.enrolled": "Device enrolled",
  "device.state": "Device state changed",
  "device.renamed": "Device renamed",
  "device.assigned": "Device assigned",
  "device.deleted": "Device deleted",
  "device.imported": "Device imported",
  "device.token": "Device token issued",
  "serial.decided": "Serial number decided",
  "key.created": "API key created",
  "key.updated": "API key changed",
  "key.rotated": "API key got a new secret",
  "key.revoked": "API key revoked",
  "user.created": "User added",
  "user.updated": "User changed",
  "user.deleted": "User deleted",
  "user.password": "Password changed",
  "session.opened": "Signed in",
  "session.closed": "Signed out",
  "auth.failed": "Credentials refused",
  "enrolment.full": "Enrolment refused",
  "database.restored": "Database restored",
};

export type AuditCode = keyof typeof eventNames;
