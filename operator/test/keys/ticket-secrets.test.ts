import { expect } from "chai";
import {
  formatTicketSecrets,
  nextTicketSecretMs,
  parseTicketSecrets,
  ticketKeysOf,
  withNewTicketSecret,
} from "../../src/keys/ticket-secrets.ts";

const nowMs = Date.UTC(2026, 0, 1);

describe("session ticket keys", () => {
  it("ticket secrets are parsed from their text unchanged", () => {
    const secrets = withNewTicketSecret(withNewTicketSecret([], nowMs - 1000), nowMs);
    expect(parseTicketSecrets(formatTicketSecrets(secrets), nowMs)).to.deep.equal(secrets);
  });

  it("malformed ticket secrets are left out, and those of the future count as made now", () => {
    const [secret] = withNewTicketSecret([], nowMs + 1_000_000);
    const good = formatTicketSecrets(secret === undefined ? [] : [secret]);
    for (const bad of ["", "garbage", "2026-01-01T00:00:00Z c2hvcnQ=", "never AAAA"]) {
      const parsed = parseTicketSecrets(`${bad}\n${good}`, nowMs);
      expect(parsed.map(({ createdMs }) => createdMs)).to.deep.equal([nowMs]);
    }
    expect(nextTicketSecretMs([])).to.equal(0);
  });

  it("the ticket keys differ between scopes and are the same on every replica", () => {
    const secrets = withNewTicketSecret([], nowMs);
    expect(ticketKeysOf(secrets, "a").body).to.equal(ticketKeysOf(secrets, "a").body);
    expect(ticketKeysOf(secrets, "a").body).not.to.equal(ticketKeysOf(secrets, "b").body);
  });
});
