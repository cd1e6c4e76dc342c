# Homebrew formula. `build.py release` fills in the version, the repository and the checksums.
class Panoply < Formula
  desc "Expert tools for AI agents over the Model Context Protocol"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/panoply-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256 aarch64-apple-darwin@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/panoply-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256 x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@REPOSITORY@/releases/download/v@VERSION@/panoply-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@REPOSITORY@/releases/download/v@VERSION@/panoply-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "panoply", "cgt-mcp"
    generate_completions_from_executable(bin/"panoply", "completions")
  end

  service do
    run [opt_bin/"panoply", "http"]
    keep_alive true
    log_path var/"log/panoply.log"
    error_log_path var/"log/panoply.log"
  end

  test do
    ENV["PANOPLY_HOME"] = testpath
    assert_match version.to_s, shell_output("#{bin}/panoply --version")
    assert_match "GBP", shell_output("#{bin}/panoply call get_fx_rate --arg currency=USD --arg date=2024-05-01")
  end
end
