//! Progress of ingest jobs over gRPC. Jobs are started over MCP or the command line only.

use serde_json::Value;
use tonic::{Request, Response, Status};

use super::proto::job_service_server::JobService;
use super::proto::{GetRequest, Job};
use super::{TtmReadService, audit, object, text};

#[tonic::async_trait]
impl JobService for TtmReadService {
    async fn get_job(&self, request: Request<GetRequest>) -> Result<Response<Job>, Status> {
        let answer = self.resource(request, "ttm-job://").await?;
        let document = &answer.document;
        let pages = |name: &str| {
            let number = document.pointer(&format!("/progress/{name}")).and_then(Value::as_u64);
            number.and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
        };
        Ok(Response::new(Job {
            job_id: text(document, "job_id"),
            status: text(document, "status"),
            log_uri: text(document, "log_uri"),
            detail: text(document, "detail"),
            pages_done: pages("pages_done"),
            pages: pages("pages"),
            audit: Some(audit(&answer)),
            document: object(document),
        }))
    }
}
