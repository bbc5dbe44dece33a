"""An MCP server over HTTP that needs a login, and its authorization server on another port.

``python guarded.py PORT LOGIN_PORT LOG [SECONDS] [no-refresh]``. Each thing that happens becomes a
line of the file LOG. Tokens are valid for SECONDS.
"""

import asyncio
import secrets
import sys
import time
from pathlib import Path

import uvicorn
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    ProviderTokenVerifier,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

PORT, LOGIN_PORT, LOG = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
SECONDS = int(sys.argv[4]) if len(sys.argv) > 4 else 3_600
REFRESHES = "no-refresh" not in sys.argv
ISSUER = AnyHttpUrl(f"http://127.0.0.1:{LOGIN_PORT}")
RESOURCE = AnyHttpUrl(f"http://127.0.0.1:{PORT}/mcp")


def note(what: str) -> None:
    with LOG.open("a", encoding="utf-8") as file:
        file.write(f"{what}\n")


class Logins(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Logs everyone in at once; the library checks PKCE, redirects and clients."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.tokens: dict[str, AccessToken] = {}
        self.refreshes: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        note("register")
        self.clients[str(client_info.client_id)] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        note("authorize")
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=str(client.client_id),
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        note("code")
        code = self.codes.pop(authorization_code.code)
        return self._issue(code.client_id, code.scopes, code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.refreshes.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        note("refresh")
        del self.refreshes[refresh_token.token]
        return self._issue(refresh_token.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        found = self.tokens.get(token)
        is_valid = found is not None and (found.expires_at or 0) > time.time()
        return found if is_valid else None

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        raise NotImplementedError

    def _issue(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
        self.tokens[access] = AccessToken(
            token=access,
            client_id=client_id,
            scopes=scopes,
            expires_at=int(time.time()) + SECONDS,
            resource=resource,
        )
        self.refreshes[refresh] = RefreshToken(
            token=refresh, client_id=client_id, scopes=scopes, resource=resource
        )
        return OAuthToken(
            access_token=access, expires_in=SECONDS, refresh_token=refresh if REFRESHES else None
        )


async def main() -> None:
    logins = Logins()
    server = MCPServer(
        "guarded",
        token_verifier=ProviderTokenVerifier(logins),
        auth=AuthSettings(
            issuer_url=ISSUER, resource_server_url=RESOURCE, validate_token_resource=True
        ),
    )

    @server.tool()
    def secret() -> str:
        """Say what only those know who are logged in."""
        return "the grey men are near"

    routes = create_auth_routes(
        logins, ISSUER, client_registration_options=ClientRegistrationOptions(enabled=True)
    )
    apps = ((server.streamable_http_app(), PORT), (Starlette(routes=routes), LOGIN_PORT))
    await asyncio.gather(
        *(
            uvicorn.Server(
                uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error")
            ).serve()
            for app, port in apps
        )
    )


if __name__ == "__main__":
    asyncio.run(main())
