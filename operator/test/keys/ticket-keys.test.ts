import { expect } from "chai";
import {
  formatTicketSecrets,
  nextTicketSecretMs,
  parseTicketSecrets,
  ticketKeysOf,
  withNewTicketSecret,
} from "../../src/keys/ticket-keys.ts";

const nowMs = Date.UTC(2026, 0, 1);

describe("session ticket keys", () => {
  it("are read as they were written", () => {
    const secrets = withNewTicketSecret(withNewTicketSecret([], nowMs - 1000), nowMs);
    expect(parseTicketSecrets(formatTicketSecrets(secrets), nowMs)).to.deep.equal(secrets);
  });

  it("leave out what is no key, and take none from the future", () => {
    const [secret] = withNewTicketSecret([], nowMs + 1_000_000);
    const good = formatTicketSecrets(secret === undefined ? [] : [secret]);
    for (const bad of ["", "garbage", "2026-01-01T00:00:00Z c2hvcnQ=", "never AAAA"]) {
      const parsed = parseTicketSecrets(`${bad}\n${good}`, nowMs);
      expect(parsed.map(({ createdMs }) => createdMs)).to.deep.equal([nowMs]);
    }
    expect(nextTicketSecretMs([])).to.equal(0);
  });

  it("differ from scope to scope, and are the same on every replica", () => {
    const secrets = withNewTicketSecret([], nowMs);
    expect(ticketKeysOf(secrets, "a").body).to.equal(ticketKeysOf(secrets, "a").body);
    expect(ticketKeysOf(secrets, "a").body).not.to.equal(ticketKeysOf(secrets, "b").body);
  });
});
